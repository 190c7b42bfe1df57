// Bodies of an exact length, which the checks of limits need. Areas: FRAME, COMPRESS.
import { Command } from '../../wire/command.ts';
import { encodeBody } from '../../wire/encode.ts';

export type SizedPublish = {
  readonly id: string;
  readonly queue: string;
  /** The length of the whole body, before any compression. */
  readonly totalBytes: number;
  readonly headers?: Readonly<Record<string, string>>;
};

/** The body of a Publish that has exactly this many bytes; its payload is one JSON text of letters. */
export function publishBodyOf(publish: SizedPublish): Buffer {
  return encodeBody({ ...fieldsOf(publish), payload: sizedPayload(publish) });
}

/** The payload that gives the body of such a Publish its length. Throws when the other fields are longer already. */
export function sizedPayload(publish: SizedPublish): string {
  const quotes = 2;
  const rest = publish.totalBytes - encodeBody(fieldsOf(publish)).length - quotes;
  if (rest < 0) throw new RangeError(`${publish.totalBytes} bytes do not hold the fields of the Publish`);
  return `"${textOfLength(rest)}"`;
}

/** Letters that compress well. */
export function textOfLength(length: number): string {
  return 'abcdefgh'.repeat(Math.ceil(length / 8)).slice(0, length);
}

function fieldsOf({ id, queue, headers }: SizedPublish) {
  const command = Command.Publish;
  return headers === undefined ? { command, id, queue } : { command, id, queue, headers };
}
