// Whatever a peer sends, in whatever pieces: nothing is thrown, every frame it gets is sound, others are served as before, and when it has
// disconnected nothing of it is left.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allInPlace, ZlibCompressor } from '../../compression/zlib-compressor.ts';
import { Command } from '../../protocol/command.ts';
import { encodeBody } from '../../protocol/encode.ts';
import { cut, cuts, messageFields } from '../../testing/message-arbitrary.ts';
import { runsOf } from '../../testing/property-runs.ts';
import { ping, publish, subscribe, TestedBroker } from '../../testing/tested-broker.ts';
import { bodyBytes, frameBytes } from '../../testing/wire-bytes.ts';
import type { WireClient } from '../../testing/wire-client.ts';

const handshake = frameBytes(bodyBytes({ command: 0, id: 'c' }));

/** Frames that are right but for what they say, some of them damaged afterwards. */
const frame: fc.Arbitrary<Buffer> = fc.oneof(
  messageFields.map((fields) => frameBytes(encodeBody(fields))),
  fc
    .tuple(messageFields, fc.constantFrom(0, 1, 2, 3, 255))
    .map(([fields, flags]) => frameBytes(encodeBody(fields), flags)),
  fc.tuple(messageFields, fc.nat(300)).map(([fields, at]) => {
    const bytes = frameBytes(encodeBody(fields));
    bytes[5 + (at % (bytes.length - 5))] = at % 256;
    return bytes;
  }),
  fc
    .record({ command: sensible(), queue: fc.constantFrom('q', 'r', ''), id: fc.constantFrom('a', 'b', 'c') })
    .map((parts) => frameBytes(bodyBytes(parts))),
);

const bytes: fc.Arbitrary<Buffer> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.array(frame, { maxLength: 20 }).map((frames) => Buffer.concat([handshake, ...frames])),
  },
  { weight: 1, arbitrary: fc.array(frame, { maxLength: 5 }).map((frames) => Buffer.concat(frames)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 500 }).map((noise) => Buffer.from(noise)) },
);

// Everything in place: the thread pool does not know that time is virtual.
const compressor = new ZlibCompressor(allInPlace);

const ending = fc.constantFrom(
  (client: WireClient) => client.stream.end(),
  (client: WireClient) => client.stream.destroy(),
  () => undefined,
);

describe('a hostile peer', () => {
  it('breaks nothing and leaves nothing behind [FRAME-009, FRAME-010, BODY-033]', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(bytes, cuts, ending), { minLength: 1, maxLength: 4 }),
        async (peers) => {
          const tested = new TestedBroker({}, { compressor });
          const bystander = await tested.connect();
          const clients = peers.map(([stream, lengths, end]) => {
            const client = tested.attach();
            for (const piece of cut(stream, lengths)) client.sendRaw(piece);
            end(client);
            return client;
          });
          await tested.settle();
          expect(await tested.exchange(bystander, ping())).toEqual(['Pong ping']);
          // Reading them is checking them: the naive decoder throws at a frame that is not sound.
          for (const client of clients)
            expect(client.take().every(({ version }) => version === 1)).toBe(true);
          await leaveNothing(tested, bystander, clients);
        },
      ),
      { numRuns: runsOf(150) },
    );
  });
});

/** Everybody but the bystander goes; then the broker holds their messages and nothing else of them. */
async function leaveNothing(
  tested: TestedBroker,
  bystander: WireClient,
  clients: readonly WireClient[],
): Promise<void> {
  for (const client of clients) client.stream.destroy();
  await tested.settle();
  expect(tested.broker.stats()).toMatchObject({ activeConnectionCount: 1, inFlightCount: 0 });
  const marked = await tested.exchange(bystander, subscribe('untouched'), publish('untouched', 'mark'));
  expect(marked.at(-1)).toBe('Deliver mark untouched');
  bystander.stream.destroy();
  await tested.settle();
  expect(tested.broker.stats()).toMatchObject({ activeConnectionCount: 0, inFlightCount: 0 });
  const drained = tested.broker.drain();
  await tested.settle();
  await drained;
  expect(tested.environment.timerCount).toBe(0);
}

function sensible(): fc.Arbitrary<number> {
  return fc.constantFrom(
    Command.Publish,
    Command.Publish,
    Command.Subscribe,
    Command.Subscribe,
    Command.Unsubscribe,
    Command.Ack,
    Command.DeleteQueue,
    Command.CreateQueue,
    Command.Ping,
    Command.QueueInfo,
    Command.ListQueues,
  );
}
