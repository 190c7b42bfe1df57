// Bodies of an exact length, for the checks of limits. Areas: FRAME, COMPRESS.
import type { TargetFacts } from '../../check.ts';
import { Command } from '../../wire/command.ts';
import { bodyBytes, encodeBody, u16, u32 } from '../../wire/encode.ts';

export type SizedPublish = {
  readonly id: string;
  readonly queue: string;
  /** The length of the whole body, before any compression. */
  readonly totalBytes: number;
  readonly headers?: Readonly<Record<string, string>>;
};

/** The body of a Publish with exactly this many bytes. The payload is a JSON string. */
export function publishBodyOf(publish: SizedPublish): Buffer {
  return encodeBody({ ...fieldsOf(publish), payload: sizedPayload(publish) });
}

/** The payload with which the body of the Publish has `totalBytes`. Throws when the other fields alone are longer. */
export function sizedPayload(publish: SizedPublish): string {
  const quotes = 2;
  const rest = publish.totalBytes - encodeBody(fieldsOf(publish)).length - quotes;
  if (rest < 0) throw new RangeError(`${publish.totalBytes} bytes do not hold the fields of the Publish`);
  return `"${textOfLength(rest)}"`;
}

/** The length of a payload in bytes: `wanted`, or as much as certainly fits into a frame of a broker with a smaller MaxMessageSize. */
export function fittingLength(
  { maxMessageSizeBytes }: Pick<TargetFacts, 'maxMessageSizeBytes'>,
  wanted: number,
): number {
  return Math.min(wanted, maxMessageSizeBytes - otherFieldsBytes);
}

/** Ids, queue names and headers of a check, and what a broker adds. */
const otherFieldsBytes = 1024;

/** The body of such a Publish in pieces of at most 1 MiB, for bodies too large to keep in memory. */
export function* publishPieces({ id, queue, totalBytes }: Omit<SizedPublish, 'headers'>): Iterable<Buffer> {
  const empty = encodeBody(fieldsOf({ id, queue }));
  const payloadBytes = totalBytes - empty.length;
  const lengthAndHeaderCountBytes = 6;
  yield bodyBytes(empty.subarray(0, -lengthAndHeaderCountBytes), u32(payloadBytes), Buffer.from('"'));
  const piece = Buffer.from(textOfLength(1_048_576));
  for (let rest = payloadBytes - 2; rest > 0; rest -= piece.length) yield piece.subarray(0, rest);
  yield bodyBytes(Buffer.from('"'), u16(0));
}

/** Text of this length that compresses well. */
export function textOfLength(length: number): string {
  return 'abcdefgh'.repeat(Math.ceil(length / 8)).slice(0, length);
}

/** Text of this length whose every part is different, so that a part at a wrong place shows. */
export function numberedText(length: number): string {
  const partLength = 8;
  const parts = Array.from({ length: Math.ceil(length / partLength) }, (_, index) =>
    String(index).padStart(partLength, '-'),
  );
  return parts.join('').slice(0, length);
}

function fieldsOf({ id, queue, headers }: Omit<SizedPublish, 'totalBytes'>) {
  const command = Command.Publish;
  return headers === undefined ? { command, id, queue } : { command, id, queue, headers };
}
