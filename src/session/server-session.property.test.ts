// What holds for a session whatever arrives: the same events however the stream is cut, compressed or not, and no exceptions.

import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Command } from '../protocol/command.ts';
import { encodeBody } from '../protocol/encode.ts';
import type { MessageFields } from '../protocol/message.ts';
import { clientCommand, cut, cuts } from '../testing/message-arbitrary.ts';
import { runsOf } from '../testing/property-runs.ts';
import { describeEvent, refuseAll, SessionDriver } from '../testing/session-driver.ts';
import { bodyBytes, frameBytes } from '../testing/wire-bytes.ts';
import { recordedFrames } from '../testing/wire-fixtures.ts';

type Sent = { readonly fields: MessageFields; readonly flags: number };

const sent: fc.Arbitrary<Sent> = fc.record({ fields: clientCommand, flags: fc.constantFrom(0, 1, 2) });
const connect = frameBytes(bodyBytes({ command: Command.Connect, id: 'c' }));
const recorded = recordedFrames()
  .filter((frame) => frame.from === 'client')
  .map((frame) => Buffer.from(frame.hex, 'hex'));

function frameOf({ fields, flags }: Sent): Buffer {
  const body = encodeBody(fields);
  if (flags === 1) return frameBytes(gzipSync(body), flags);
  if (flags === 2) return frameBytes(brotliCompressSync(body, fast), flags);
  return frameBytes(body);
}

const fast = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

describe('a session', () => {
  it('makes the same of a stream however it is cut, compressed frames among others [CONN-031, COMPRESS-001, FRAME-015]', () => {
    fc.assert(
      fc.property(fc.array(sent, { maxLength: 8 }), cuts, (messages, lengths) => {
        const stream = Buffer.concat([connect, ...messages.map(frameOf)]);
        const events = new SessionDriver().feed(...cut(stream, lengths)).map(describeEvent);
        const expected = messages.map(({ fields: { command, id } }) =>
          command === Command.Ping ? `answer 11 ${id}` : `command ${command} ${id}`,
        );
        expect(events).toEqual(['answer 1 c', ...expected]);
      }),
    );
  });

  it('passes on the bodies of compressed and uncompressed frames alike [COMPRESS-016]', () => {
    fc.assert(
      fc.property(fc.array(sent, { maxLength: 4 }), (messages) => {
        const events = new SessionDriver().feed(connect, ...messages.map(frameOf));
        const bodies = events.flatMap((event) => (event.kind === 'message' ? [event.body] : []));
        const commands = messages.filter(({ fields }) => fields.command !== Command.Ping);
        expect(bodies).toEqual(commands.map(({ fields }) => encodeBody(fields)));
      }),
    );
  });

  it('never throws, and says nothing after its end, whatever bytes come', () => {
    const noise = fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes));
    const changed = fc
      .tuple(fc.constantFrom(...recorded), fc.nat(), fc.integer({ min: 0, max: 255 }))
      .map(([frame, at, byte]) => {
        const copy = Buffer.from(frame);
        copy[at % copy.length] = byte;
        return copy;
      });
    const chunks = fc.array(fc.oneof(noise, changed, fc.constantFrom(connect, ...recorded)), {
      maxLength: 10,
    });
    fc.assert(
      fc.property(chunks, fc.boolean(), (pieces, refuses) => {
        const driver = refuses ? new SessionDriver({}, refuseAll) : new SessionDriver();
        const kinds = driver.feed(...pieces).map((event) => event.kind);
        const end = kinds.indexOf('close');
        expect(end === -1 || end === kinds.length - 1).toBe(true);
        expect(driver.session.state === 'closed').toBe(end !== -1);
      }),
      { numRuns: runsOf(500) },
    );
  });
});
