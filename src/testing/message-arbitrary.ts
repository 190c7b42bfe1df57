// Arbitrary messages for properties: all of Unicode, empty and longest fields included.

import fc from 'fast-check';
import { Command } from '../protocol/command.ts';
import type { MessageFields } from '../protocol/message.ts';
import { codePoint } from './code-point.ts';

/** Texts of all of Unicode, mostly short, sometimes at the 65,535 bytes that a length prefix allows. */
export const wireText: fc.Arbitrary<string> = fc.oneof(
  { weight: 10, arbitrary: fc.string({ unit: codePoint, maxLength: 30 }) },
  { weight: 5, arbitrary: fc.string({ unit: 'binary-ascii', maxLength: 60 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('i'.repeat(65_535), `${'é'.repeat(32_767)}x`, '€'.repeat(21_845), '\ufeff'),
  },
);

const filledText = wireText.filter((text) => text !== '');

const headers = fc
  .array(fc.tuple(filledText, filledText), { maxLength: 6 })
  .map((pairs) => new Map(pairs) as ReadonlyMap<string, string>);

const payload = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes));

const command = fc.oneof(fc.constantFrom(...Object.values(Command)), fc.integer({ min: 0, max: 255 }));

/** Fields that decode to themselves: no empty header keys or values. */
export const messageFields: fc.Arbitrary<Required<MessageFields>> = fc
  .record({
    command,
    id: wireText,
    queue: wireText,
    payload,
    headers,
    errorCode: wireText,
    errorMessage: wireText,
  })
  .map((fields) =>
    fields.command === Command.Error ? fields : { ...fields, errorCode: '', errorMessage: '' },
  );

/** Small valid commands, as clients send them. */
export const clientCommand: fc.Arbitrary<MessageFields> = fc.record({
  command: fc.constantFrom(Command.Publish, Command.Subscribe, Command.Ack, Command.Ping, Command.QueueInfo),
  id: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
  queue: fc.constantFrom('', 'orders', '订单'),
  payload,
  headers: fc
    .dictionary(fc.string({ minLength: 1, maxLength: 5 }), fc.string({ minLength: 1, maxLength: 9 }))
    .map((pairs) => new Map(Object.entries(pairs)) as ReadonlyMap<string, string>),
});

/** Enough pieces to cut small frames at every byte; 64 KiB in pieces of one byte would take too long. */
const MAX_PIECES = 5_000;

/** How a stream is cut: the lengths of its pieces, repeated. */
export const cuts: fc.Arbitrary<readonly number[]> = fc.array(fc.integer({ min: 1, max: 200 }), {
  minLength: 1,
  maxLength: 20,
});

/** The stream in pieces of these lengths, repeated; after the last one the rest is one piece. */
export function cut(stream: Buffer, lengths: readonly number[]): readonly Buffer[] {
  const pieces: Buffer[] = [];
  let at = 0;
  while (at < stream.length && pieces.length < MAX_PIECES) {
    const length = lengths[pieces.length % lengths.length] ?? 1;
    pieces.push(stream.subarray(at, at + length));
    at += length;
  }
  return at < stream.length ? [...pieces, stream.subarray(at)] : pieces;
}
