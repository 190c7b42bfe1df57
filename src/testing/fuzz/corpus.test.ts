// Every frame of the corpus against a whole broker: it answers and goes on or ends as the corpus says, and a normal client works.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { framesOf, WireClient } from '../wire-client.ts';
import { malformedBytes, malformedCases } from '../wire-fixtures.ts';
import { type FuzzedBroker, startVirtualBroker } from './fuzzed-broker.ts';
import { NormalClient } from './normal-client.ts';

const corpus = (['frames', 'bodies', 'found'] as const)
  .flatMap((name) => malformedCases(name))
  .map((malformed) => [`${malformed.name} [${malformed.requirement}]`, malformed] as const);

let broker: FuzzedBroker;
let normal: NormalClient;

beforeAll(async () => {
  broker = await startVirtualBroker({ maxMessageSizeBytes: 1_048_576, maxDecompressedSizeBytes: 1_048_576 });
  normal = await NormalClient.connected(broker);
});

afterAll(async () => {
  normal.disconnect();
  await broker.close();
});

describe('a broker that is sent', () => {
  it.each(corpus)('%s', async (_name, malformed) => {
    const client = new WireClient(await broker.attach());
    client.sendRaw(Buffer.concat([framesOf({ command: 0, id: 'c' }), malformedBytes(malformed)]));
    client.send({ command: 10, id: 'after' });
    await broker.reaches(() => false);
    const [, error, pong] = client.take();
    expect(error).toMatchObject({
      command: 99,
      errorCode: malformed.code,
      ...(malformed.id && { id: malformed.id }),
    });
    expect([client.isOver, pong?.id]).toEqual(malformed.closes ? [true, undefined] : [false, 'after']);
    client.stream.destroy();
    expect(await normal.works()).toBeUndefined();
    expect(broker.takeErrors()).toEqual([]);
  });
});
