// What a running broker asks of the machine, as strace tells it: no PublishAck goes out before the sync that covers its message. And that
// the judge would see one that did, in a trace that was turned round and in one of a broker that does not wait for the disk.

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connect } from '../../client/index.ts';
import { newFolder } from '../../storage/contract/file-place.ts';
import { notShown } from '../not-shown.ts';
import { judgeTrace } from '../trace-of-syncs.ts';
import { startTracedBroker, whyNotTraced } from './traced-broker.ts';

const IDS = Array.from({ length: 24 }, (_, index) => `traced-message-${String(index).padStart(3, '0')}`);

let folder: string;

beforeEach(async () => {
  folder = await newFolder();
});

afterEach(() => rm(folder, { recursive: true, force: true }));

/** Publishes one by one and several at a time; resolves with the trace when everything is confirmed. */
async function traceOf(flags: readonly string[]): Promise<string> {
  const broker = await startTracedBroker(join(folder, 'q.db'), join(folder, 'trace'), flags);
  const client = await connect({ port: broker.port, reconnect: false });
  for (const id of IDS.slice(0, 12)) await client.publish('traced', { id }, { id });
  await Promise.all(IDS.slice(12).map((id) => client.publish('traced', { id }, { id })));
  await client.close();
  return broker.stop();
}

describe('a broker under strace', () => {
  it('writes no PublishAck to a socket before the sync of its message has ended, unless the sync is switched off [DURABLE-001]', async (context) => {
    const reason = await whyNotTraced();
    if (reason !== undefined) {
      expect(reason).toMatch(/strace|ENOENT|ptrace/i);
      notShown(context, reason);
    }
    expect(judgeTrace(await traceOf([]), IDS)).toEqual({ problems: [], coveredCount: IDS.length });
    await rm(join(folder, 'q.db'));
    const { problems, coveredCount } = judgeTrace(await traceOf(['--synchronous', 'normal']), IDS);
    expect(problems).toHaveLength(IDS.length);
    expect(problems[0]).toBe(`${IDS[0]} was confirmed before its sync had ended`);
    expect(coveredCount).toBe(0);
  }, 100_000);
});

describe('the judge of a trace', () => {
  const hex = (bytes: Buffer) =>
    [...bytes].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
  const frame = Buffer.concat([
    Buffer.from([0, 0, 0, 20, 0, 1, 21, 0, 2]),
    Buffer.from('m1'),
    Buffer.alloc(10),
  ]);
  const log = '27<\\x71\\x2d\\x77\\x61\\x6c>';
  const write = `7 pwrite64(${log}, "${hex(Buffer.from('..m1..'))}", 6, 0) = 6`;
  const sync = `7 fsync(${log}) = 0`;
  const ack = `7 write(31<${hex(Buffer.from('socket:[5]'))}>, "${hex(frame)}", 21) = 21`;

  it.each([
    ['that is in order', [write, sync, ack], []],
    ['whose ack comes first', [write, ack, sync], ['m1 was confirmed before its sync had ended']],
    ['without a sync', [write, ack], ['m1 was confirmed before its sync had ended']],
    ['without a write', [sync, ack], ['m1 was confirmed before it was written']],
    ['whose sync came before the write', [sync, write, ack], ['m1 was confirmed before its sync had ended']],
    [
      'whose sync failed',
      [write, `7 fsync(${log}) = -1 EIO (Input/output error)`, ack],
      ['m1 was confirmed before its sync had ended'],
    ],
    [
      'whose sync was of another file',
      [write, '7 fsync(25<\\x71>) = 0', ack],
      ['m1 was confirmed before its sync had ended'],
    ],
    [
      'whose ack goes out while the sync is under way',
      [write, `7 fsync(${log} <unfinished ...>`, ack.replace('7', '8'), '7 <... fsync resumed>) = 0'],
      ['m1 was confirmed before its sync had ended'],
    ],
    [
      'whose sync ends in time',
      [write, `7 fsync(${log} <unfinished ...>`, '7 <... fsync resumed>) = 0', ack.replace('7', '8')],
      [],
    ],
    [
      'whose ack is cut in two by another thread',
      [write, ack.replace(') = 21', ' <unfinished ...>'), sync, '7 <... write resumed>) = 21'],
      ['m1 was confirmed before its sync had ended'],
    ],
  ])('finds in one %s what is wrong', (_, lines, problems) => {
    const verdict = judgeTrace(lines.join('\n'), ['m1']);
    expect(verdict).toEqual({ problems, coveredCount: problems.length === 0 ? 1 : 0 });
  });
});
