// Checks the runner's own codec before each run: it must decode every golden frame to the recorded fields, and encode each uncompressed
// frame to the same bytes. With a difference no verdict of the runner is reliable (exit code 5). Areas: FRAME, BODY, COMPRESS.
import { isDeepStrictEqual } from 'node:util';
import type { GoldenFile, GoldenFrame } from './suite-data.ts';
import { Command } from './wire/command.ts';
import { algorithmFlags } from './wire/compression.ts';
import { decodeBody } from './wire/decode.ts';
import { encodeFrame } from './wire/encode.ts';
import type { FrameFields } from './wire/frame.ts';
import { FrameReader } from './wire/frame-reader.ts';

const protocolMaxBodyBytes = 1_048_576;

/** The faults of the codec, one sentence each; empty if it is correct. If there are no golden frames, that is a fault too. */
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
    return [`cannot be decoded: ${String(error)}`];
  }
}

function decodeFaults(golden: GoldenFrame): readonly string[] {
  const reader = new FrameReader(protocolMaxBodyBytes);
  reader.push(Buffer.from(golden.hex, 'hex'));
  const raw = reader.next();
  if (raw === undefined) return ['is not a complete frame'];
  const body = decodeBody(raw.body);
  const read = { ...summary(body), flags: raw.flags };
  const recorded = { ...recordedSummary(golden), flags: algorithmFlags[golden.compression] };
  if (isDeepStrictEqual(read, recorded)) return [];
  return [`was decoded as ${JSON.stringify(read)}, but recorded as ${JSON.stringify(recorded)}`];
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

/** Trailing bytes belong to no field, but the length prefix counts them, so a frame that has some is compared without the prefix. */
function encodeFaults(golden: GoldenFrame): readonly string[] {
  if (golden.compression !== 'none') return [];
  const recorded = Buffer.from(golden.hex, 'hex');
  if (golden.trailingBytes > 0) return trailingFaults(golden, recorded);
  const written = encodeFrame(fieldsOf(golden));
  return written.equals(recorded)
    ? []
    : [`was encoded as ${written.toString('hex')}, but recorded as ${golden.hex}`];
}

function trailingFaults(golden: GoldenFrame, recorded: Buffer): readonly string[] {
  const fieldsEnd = recorded.length - golden.trailingBytes;
  const written = encodeFrame(fieldsOf(golden)).subarray(4);
  const expected = recorded.subarray(4, fieldsEnd);
  return written.equals(expected)
    ? []
    : [
        `was encoded as ${written.toString('hex')}, which differs from the recorded bytes before the trailing bytes`,
      ];
}

function fieldsOf(golden: GoldenFrame): FrameFields {
  const command = Object.entries(Command).find(([name]) => name === golden.command)?.[1];
  if (command === undefined) throw new Error(`unknown command ${golden.command}`);
  const { version, id, queue, payload, headers, errorCode = '', errorMessage = '' } = golden;
  return { version, command, id, queue, payload, headers, errorCode, errorMessage };
}
