// The default limits of memory are right whatever the sizes of the messages are. A heap has pages: what is freed between contents of one size
// may be too small for those of another. The process has a small heap, so that few messages fill it.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Client, connect } from '../client/index.ts';
import { type BrokerProcess, startProcess } from '../testing/crash/broker-process.ts';
import { truemqProgram } from '../testing/truemq-program.ts';

const QUEUE_COUNT = 50;
const AT_ONCE = 64;
let broker: BrokerProcess;
let client: Client;

beforeEach(async () => {
  const servers = ['--port', '0', '--health-port', '0', '--dashboard', 'off', '--rate-limit', 'off'];
  broker = await startProcess([
    '--max-old-space-size=128',
    ...truemqProgram,
    'serve',
    ...servers,
    '--print-ready',
  ]);
  client = await connect({ port: broker.port, reconnect: false });
});

afterEach(async () => {
  await client.close();
  await broker.stop();
});

/** Publishes until as many publishes as are sent at once were refused; resolves with the count of those accepted, and why others were not. */
async function fill(payload: string): Promise<{ acceptedCount: number; reasons: ReadonlySet<unknown> }> {
  const reasons = new Set<unknown>();
  let acceptedCount = 0;
  let refusedCount = 0;
  for (let number = 0; refusedCount < AT_ONCE; number += AT_ONCE) {
    const sent = Array.from({ length: AT_ONCE }, (_, index) =>
      client.publish(`q${(number + index) % QUEUE_COUNT}`, payload),
    );
    for (const outcome of await Promise.allSettled(sent)) {
      if (outcome.status === 'fulfilled') acceptedCount += 1;
      else {
        refusedCount += 1;
        reasons.add(Reflect.get(Object(outcome.reason), 'code'));
      }
    }
  }
  return { acceptedCount, reasons };
}

describe('a broker whose heap holds 128 MiB', () => {
  it('is filled by messages of other sizes again and again, and serves [LIMIT-029]', async () => {
    for (const [round, payloadBytes] of [20_000, 33_000, 44_000].entries()) {
      const { acceptedCount, reasons } = await fill('x'.repeat(payloadBytes));
      expect([...reasons]).toEqual(['MEMORY_LIMIT']);
      expect(acceptedCount * payloadBytes).toBeGreaterThan(20 * 1024 * 1024);
      for (let queue = round % 2; queue < QUEUE_COUNT; queue += 2) await client.deleteQueue(`q${queue}`);
    }
    await client.publish('q0', 'still there');
  });
});
