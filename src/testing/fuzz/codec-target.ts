// Fuzzes the codec: the splitter, the reader and the decoder of frames must make of any bytes what a naive splitter and a naive decoder make
// of them, however the bytes are cut, never throw, and take no memory beyond the limits. What decodes must encode to the same bytes.

import { getHeapStatistics } from 'node:v8';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { allInPlace, ZlibCompressor } from '../../compression/zlib-compressor.ts';
import { decodeMessage } from '../../protocol/decode.ts';
import { encodeBody, encodedBodyLength } from '../../protocol/encode.ts';
import { isFault, type ProtocolFault } from '../../protocol/fault.ts';
import { checkFieldRules } from '../../protocol/field-rules.ts';
import { defaultLimits, type ProtocolLimits } from '../../protocol/limits.ts';
import type { Message } from '../../protocol/message.ts';
import { MessageReader, type ReadEvent } from '../../session/message-reader.ts';
import { fieldsOf } from '../message-fields.ts';
import { decodeNaively, type NaiveMessage } from '../naive-decoder.ts';
import type { FuzzTarget } from './fuzz-target.ts';
import { type NaiveFrame, splitNaively } from './naive-splitter.ts';

/** Small, so that a decoder that ignores them stands out from the garbage of one that does not. */
const limits: ProtocolLimits = {
  ...defaultLimits,
  maxMessageSizeBytes: 65_536,
  maxDecompressedSizeBytes: 65_536,
};

/** What one frame may leave as memory outside of the heap, until garbage is collected: what arrived and what it inflates to, a few times. */
const MAX_MEMORY_BYTES = 2 * 1024 * 1024;

/** Sizes of the pieces that a stream is cut into; a stream of more pieces than this says nothing new. */
const CUTS = [1, 3, 7, 64, 1000] as const;
const MAX_PIECES = 300;

export function codecTarget(): FuzzTarget {
  return {
    judge: async (frames) => {
      for (const frame of frames) {
        const complaint = judgeStream(frame, { pieces: [frame], readsAfterEach: ALL });
        if (complaint !== undefined) return complaint;
      }
      const stream = Buffer.concat(frames);
      const pieces = cutInto(stream);
      return judgeStream(stream, { pieces, readsAfterEach: ALL }, { pieces, readsAfterEach: 1 });
    },
    sweep: async () => undefined,
    close: async () => undefined,
  };
}

function cutInto(stream: Buffer): readonly Buffer[] {
  const size = Math.max(CUTS[stream.length % CUTS.length] ?? 1, Math.ceil(stream.length / MAX_PIECES));
  const count = Math.ceil(stream.length / size);
  return Array.from({ length: count }, (_, index) => stream.subarray(index * size, (index + 1) * size));
}

/** How a stream arrives: in which pieces, and how often is read after each. The rest is read at the end. */
type Arrival = { readonly pieces: readonly Buffer[]; readonly readsAfterEach: number };

const ALL = Number.POSITIVE_INFINITY;

function judgeStream(stream: Buffer, ...arrivals: readonly Arrival[]): string | undefined {
  const expected = expectedOf(stream);
  for (const arrival of arrivals) {
    const complaint = judgeArrival(stream, arrival, expected);
    if (complaint !== undefined) return complaint;
  }
  return undefined;
}

function judgeArrival(stream: Buffer, arrival: Arrival, expected: readonly Expected[]): string | undefined {
  const memoryBefore = getHeapStatistics().external_memory;
  const events = readAll(arrival);
  const taken = getHeapStatistics().external_memory - memoryBefore;
  if (taken > MAX_MEMORY_BYTES + 3 * stream.length) return `reading takes ${taken} bytes of memory`;
  if (events.length !== expected.length)
    return `reads ${events.length} messages and faults, not ${expected.length}`;
  for (const [index, event] of events.entries()) {
    const complaint = judgeEvent(event, expected[index] ?? 'INVALID_MESSAGE');
    if (complaint !== undefined) return `frame ${index + 1}: ${complaint}`;
  }
  return undefined;
}

const compressor = new ZlibCompressor(allInPlace);

/** Reads until the stream is used up or a fault ends it. */
function readAll({ pieces, readsAfterEach }: Arrival): readonly ReadEvent[] {
  const reader = new MessageReader(limits);
  const events: ReadEvent[] = [];
  for (const piece of pieces) {
    reader.push(piece);
    events.push(...readSome(reader, readsAfterEach));
  }
  return [...events, ...readSome(reader, ALL)];
}

/** Stops the reader at a fault that ends the stream, as its owner must. */
function readSome(reader: MessageReader, maxCount: number): readonly ReadEvent[] {
  const events: ReadEvent[] = [];
  while (events.length < maxCount) {
    const event = nextOf(reader);
    if (event === undefined) break;
    events.push(event);
    if (event.kind === 'fault' && event.closes) reader.stop();
  }
  return events;
}

function nextOf(reader: MessageReader): ReadEvent | undefined {
  const event = reader.next({ compressionAllowed: true });
  if (event?.kind !== 'inflate') return event;
  const result = compressor.decompress(event.algorithm, event.body, event.limitBytes);
  if (result instanceof Promise) throw new Error('Inflating in place was expected.');
  reader.handleInflated(result);
  return reader.next({ compressionAllowed: true });
}

type ExpectedBody = { readonly body: Buffer; readonly message: NaiveMessage | 'broken' };

/** A body and what it decodes to, or the code of the fault that ends the stream. */
type Expected = ExpectedBody | 'INVALID_MESSAGE' | 'MESSAGE_TOO_LARGE';

function expectedOf(stream: Buffer): readonly Expected[] {
  const { frames, end } = splitNaively(stream, limits.maxMessageSizeBytes);
  const all: Expected[] = [];
  for (const frame of frames) {
    const body = inflateNaively(frame);
    all.push(typeof body === 'string' ? body : { body, message: decodeNaively(body) });
    if (typeof body === 'string') return all;
  }
  return end === 'nothing' || end === 'part of a frame' ? all : [...all, end];
}

function inflateNaively({ flags, body }: NaiveFrame): Buffer | 'INVALID_MESSAGE' | 'MESSAGE_TOO_LARGE' {
  if (flags === 0) return body;
  const options = { maxOutputLength: limits.maxDecompressedSizeBytes, info: true } as const;
  try {
    const result: unknown = flags === 1 ? gunzipSync(body, options) : brotliDecompressSync(body, options);
    const { buffer, engine } = result as { buffer: Buffer; engine: { bytesWritten: number } };
    return engine.bytesWritten === body.length ? buffer : 'INVALID_MESSAGE';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ERR_BUFFER_TOO_LARGE' ? 'MESSAGE_TOO_LARGE' : 'INVALID_MESSAGE';
  }
}

function judgeEvent(event: ReadEvent, expected: Expected): string | undefined {
  if (typeof expected === 'string') {
    if (event.kind !== 'fault') return `is a message, and should be refused with ${expected}`;
    return faultText(event, { code: expected, closes: true });
  }
  const { body, message: naive } = expected;
  if (event.kind === 'inflate') return 'is still compressed';
  if (event.kind === 'fault') {
    if (naive !== 'broken') return `is refused: ${event.text}`;
    return faultText(event, { code: 'INVALID_MESSAGE', closes: false });
  }
  if (naive === 'broken') return 'is a message, and should be refused as broken';
  if (!event.body.equals(body)) return 'has another body than was sent';
  checkFieldRules(event.message, limits);
  return differenceText(event.message, naive) ?? encodingText(event.message, body);
}

function faultText(
  fault: ProtocolFault,
  wanted: Pick<ProtocolFault, 'closes'> & { readonly code: string },
): string | undefined {
  if (fault.code === wanted.code && fault.closes === wanted.closes) return undefined;
  const how = (closes: boolean) => (closes ? 'ends the connection' : 'leaves the connection open');
  return `gets ${fault.code} and ${how(fault.closes)}; right is ${wanted.code} that ${how(wanted.closes)}`;
}

function differenceText(message: Message, naive: NaiveMessage): string | undefined {
  const { payload, headers, ...rest } = fieldsOf(message);
  const { payload: naivePayload, headers: naiveHeaders, ...naiveRest } = naive;
  if (!payload.equals(Buffer.from(naivePayload))) return 'has another payload than the naive decoder reads';
  const fields = JSON.stringify([Object.entries(rest).sort(), [...headers]]);
  const naiveFields = JSON.stringify([Object.entries(naiveRest).sort(), naiveHeaders]);
  return fields === naiveFields ? undefined : 'has other fields than the naive decoder reads';
}

/** A message whose fields take all of their bytes must encode to them, and every message to one that decodes to itself. */
function encodingText(message: Message, body: Buffer): string | undefined {
  const encoded = encodeBody(message);
  const isWhole = encodedBodyLength(message) === message.endAt;
  if (isWhole && !encoded.subarray(1).equals(body.subarray(1, message.endAt)))
    return 'encodes to other bytes';
  const again = decodeMessage(encoded);
  if (isFault(again)) return 'encodes to bytes that do not decode';
  const text = (one: Message) =>
    JSON.stringify([one.command, one.id, one.queue, [...one.headers], one.errorCode, one.errorMessage]);
  return text(again) === text(message) && again.payload.equals(message.payload)
    ? undefined
    : 'decodes to another message when encoded again';
}
