// What holds for every message and every sequence of bytes: round trip, agreement with a second decoder, and no exceptions.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cut, cuts, messageFields } from '../testing/message-arbitrary.ts';
import { fieldsOf } from '../testing/message-fields.ts';
import { decodeNaively } from '../testing/naive-decoder.ts';
import { runsOf } from '../testing/property-runs.ts';
import { type BodyParts, bodyBytes } from '../testing/wire-bytes.ts';
import { recordedFrames } from '../testing/wire-fixtures.ts';
import { decodeMessage } from './decode.ts';
import { encodeBody, encodedBodyLength, encodeFrame, frameHeaderBytes } from './encode.ts';
import { isFault } from './fault.ts';
import { checkFieldRules } from './field-rules.ts';
import { FrameSplitter } from './frame-splitter.ts';
import { defaultLimits } from './limits.ts';

const recordedBodies = recordedFrames()
  .filter((frame) => frame.compression === 'none')
  .map((frame) => Buffer.from(frame.hex, 'hex').subarray(frameHeaderBytes));

/** Bytes that look like a body in parts: recorded ones with changes, beginnings of messages, and plain noise. */
const bodyLikeBytes = fc.oneof(
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
  fc.tuple(fc.constantFrom(...recordedBodies), changes()).map(([body, made]) => changed(body, made)),
  fc.tuple(messageFields, changes()).map(([fields, made]) => changed(encodeBody(fields), made)),
);

type Change = { readonly at: number; readonly byte: number };

function changes(): fc.Arbitrary<{ readonly bytes: readonly Change[]; readonly cutAt: number | undefined }> {
  const change = fc.record({ at: fc.nat(), byte: fc.integer({ min: 0, max: 255 }) });
  return fc.record({
    bytes: fc.array(change, { maxLength: 4 }),
    cutAt: fc.option(fc.nat(), { nil: undefined }),
  });
}

function changed(
  body: Buffer,
  made: { readonly bytes: readonly Change[]; readonly cutAt: number | undefined },
): Buffer {
  const copy = Buffer.from(body);
  for (const { at, byte } of made.bytes) copy[at % copy.length] = byte;
  return made.cutAt === undefined ? copy : copy.subarray(0, made.cutAt % copy.length);
}

describe('any message', () => {
  it('decodes from its encoding, which is as long as announced [BODY-001, BODY-003, BODY-004, BODY-010]', () => {
    fc.assert(
      fc.property(messageFields, (fields) => {
        const body = encodeBody(fields);
        expect(body.length).toBe(encodedBodyLength(fields));
        const message = decodeMessage(body);
        if (isFault(message)) throw new Error(message.text);
        expect(fieldsOf(message)).toEqual({ ...fields, version: 1, endAt: body.length });
      }),
    );
  });

  it('is encoded as the separate writer writes it [BODY-001, BODY-002]', () => {
    fc.assert(
      fc.property(messageFields, ({ headers, errorCode, errorMessage, payload, ...fields }) => {
        const error = fields.command === 99 ? { errorCode, errorMessage } : {};
        const parts: BodyParts = { ...fields, ...error, payload, headers: [...headers] };
        const body = encodeBody({ ...fields, headers, payload, errorCode, errorMessage });
        expect(hex(body)).toBe(hex(bodyBytes(parts)));
      }),
    );
  });
});

describe('any bytes', () => {
  it('decode to what a second, naive decoder makes of them, or are refused by both [BODY-029, BODY-030]', () => {
    fc.assert(
      fc.property(bodyLikeBytes, (body) => {
        const message = decodeMessage(body);
        const naive = decodeNaively(body);
        if (isFault(message)) expect(naive).toBe('broken');
        else {
          const { payload, headers, ...fields } = fieldsOf(message);
          expect({ ...fields, payload: [...payload], headers: [...headers] }).toEqual(naive);
        }
      }),
      { numRuns: runsOf(2000) },
    );
  });

  it('yield messages or one fault at the end, and never an exception', () => {
    fc.assert(
      fc.property(
        fc.array(bodyLikeBytes, { maxLength: 4 }),
        fc.uint8Array({ maxLength: 40 }),
        (bodies, noise) => {
          const splitter = new FrameSplitter(defaultLimits);
          splitter.push(Buffer.concat([...bodies.map(frameAround), noise]));
          for (let frame = splitter.next(); frame !== undefined; frame = splitter.next()) {
            if (isFault(frame)) break;
            const message = decodeMessage(frame.body);
            if (!isFault(message)) checkFieldRules(message, defaultLimits);
          }
          expect(splitter.next()).toBeUndefined();
        },
      ),
    );
  });
});

describe('any stream', () => {
  it('splits into the same frames however it is cut [FRAME-015, FRAME-016]', () => {
    fc.assert(
      fc.property(fc.array(messageFields, { maxLength: 5 }), cuts, (messages, lengths) => {
        const splitter = new FrameSplitter(defaultLimits);
        const bodies = cut(Buffer.concat(messages.map(encodeFrame)), lengths).flatMap((piece) => {
          splitter.push(piece);
          return drain(splitter);
        });
        expect(bodies.map(hex)).toEqual(messages.map((fields) => hex(encodeBody(fields))));
        expect(splitter.pendingBytes).toBe(0);
      }),
    );
  });
});

/** Comparing long buffers byte by byte takes the test runner seconds; comparing texts takes it none. */
function hex(bytes: Buffer): string {
  return bytes.toString('hex');
}

function frameAround(body: Buffer): Buffer {
  const header = Buffer.alloc(frameHeaderBytes);
  header.writeUInt32BE(body.length);
  return Buffer.concat([header, body]);
}

function drain(splitter: FrameSplitter): Buffer[] {
  const bodies: Buffer[] = [];
  for (let frame = splitter.next(); frame !== undefined; frame = splitter.next()) {
    if (isFault(frame)) throw new Error(frame.text);
    bodies.push(frame.body);
  }
  return bodies;
}
