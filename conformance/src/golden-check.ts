// The runner checks itself before it judges anybody: its own codec must read every recorded frame as it was recorded, and
// write each uncompressed one with the very same bytes. A difference means that no verdict of this runner can be
// believed (exit code 5). Areas: FRAME, BODY, COMPRESS.
import { isDeepStrictEqual } from 'node:util';
import type { GoldenFile, GoldenFrame } from './suite-data.ts';
import { Command } from './wire/command.ts';
import { algorithmFlags } from './wire/compression.ts';
import { decodeBody } from './wire/decode.ts';
import { encodeFrame } from './wire/encode.ts';
import type { FrameFields } from './wire/frame.ts';
import { FrameReader } from './wire/frame-reader.ts';

const protocolMaxBodyBytes = 1_048_576;

/** What is wrong, one sentence each; empty when the codec is right. No golden frame at all is a fault too. */
export function goldenFaults(files: readonly GoldenFile[]): readonly string[] {
  const frames = files.flatMap((file) => file.connections.flat().map((frame) => ({ file, frame })));
  if (frames.length === 0) return ['there are no golden frames to check the codec against'];
  return frames.flatMap(({ file, frame }) =>
    frameFaults(frame).map((fault) => `${file.title} #${frame.seq}: ${fault}`),
  );
}

function frameFaults(golden: GoldenFrame): readonly string[] {
  try {
    return [...decodeFaults(golden), ...encodeFaults(golden)];
  } catch (error) {
    return [`does not decode: ${String(error)}`];
  }
}

function decodeFaults(golden: GoldenFrame): readonly string[] {
  const reader = new FrameReader(protocolMaxBodyBytes);
  reader.push(Buffer.from(golden.hex, 'hex'));
  const raw = reader.next();
  if (raw === undefined) return ['is not a whole frame'];
  const body = decodeBody(raw.body);
  const read = { ...summary(body), flags: raw.flags };
  const recorded = { ...recordedSummary(golden), flags: algorithmFlags[golden.compression] };
  if (isDeepStrictEqual(read, recorded)) return [];
  return [`reads ${JSON.stringify(read)} where ${JSON.stringify(recorded)} was recorded`];
}

function summary(body: ReturnType<typeof decodeBody>): Readonly<Record<string, unknown>> {
  const {
    version,
    commandName: command,
    id,
    queue,
    headers,
    errorCode,
    errorMessage,
    trailingByteCount,
  } = body;
  const payload = body.payload.toString('utf8');
  return { version, command, id, queue, payload, headers, errorCode, errorMessage, trailingByteCount };
}

function recordedSummary(golden: GoldenFrame): Readonly<Record<string, unknown>> {
  const { version, command, id, queue, payload, headers, errorCode = '', errorMessage = '' } = golden;
  const trailingByteCount = golden.trailingBytes;
  return { version, command, id, queue, payload, headers, errorCode, errorMessage, trailingByteCount };
}

/** Trailing bytes are put back as they stood: they are no field, but they count in the length. */
function encodeFaults(golden: GoldenFrame): readonly string[] {
  if (golden.compression !== 'none') return [];
  const recorded = Buffer.from(golden.hex, 'hex');
  if (golden.trailingBytes > 0) return trailingFaults(golden, recorded);
  const written = encodeFrame(fieldsOf(golden));
  return written.equals(recorded)
    ? []
    : [`writes ${written.toString('hex')} where ${golden.hex} was recorded`];
}

function trailingFaults(golden: GoldenFrame, recorded: Buffer): readonly string[] {
  const fieldsEnd = recorded.length - golden.trailingBytes;
  const written = encodeFrame(fieldsOf(golden)).subarray(4);
  const expected = recorded.subarray(4, fieldsEnd);
  return written.equals(expected) ? [] : [`writes ${written.toString('hex')} before the trailing bytes`];
}

function fieldsOf(golden: GoldenFrame): FrameFields {
  const command = Object.entries(Command).find(([name]) => name === golden.command)?.[1];
  if (command === undefined) throw new Error(`command ${golden.command} is not known`);
  const { version, id, queue, payload, headers, errorCode = '', errorMessage = '' } = golden;
  return { version, command, id, queue, payload, headers, errorCode, errorMessage };
}
