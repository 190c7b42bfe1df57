// The runner's own decoder: decodes one uncompressed body into its fields. Keeps everything in the body (repeated keys, order, trailing
// bytes) and rejects what no existing client could read. It rejects with a `WireFault`, which is the broker's fault. Areas: BODY.
import { countText } from '../count-text.ts';
import { Command, commandName } from './command.ts';
import type { DecodedBody, HeaderPairs } from './frame.ts';

/** The broker sent bytes that are not a frame of the protocol. */
export class WireFault extends Error {
  /** The MUST that the bytes break, whatever the check waits for; undefined: which one depends on the step. */
  readonly broken: string | undefined;

  constructor(message: string, broken?: string) {
    super(message);
    this.name = 'WireFault';
    this.broken = broken;
  }
}

/** The fields of a body; throws a WireFault that names the invalid or incomplete field. */
export function decodeBody(body: Buffer): DecodedBody {
  const reader = new BodyReader(body);
  const version = reader.number(1, 'version');
  const command = reader.number(1, 'command');
  const id = reader.text('id');
  const queue = reader.text('queue');
  const payload = reader.bytes(reader.number(4, 'payload length'), 'payload');
  const headers = readHeaders(reader);
  const isError = command === Command.Error;
  const errorCode = isError ? reader.text('errorCode') : '';
  const errorMessage = isError ? reader.text('errorMessage') : '';
  const trailingByteCount = reader.remainingCount;
  const name = commandName(command);
  return {
    version,
    command,
    commandName: name,
    id,
    queue,
    payload,
    headers,
    errorCode,
    errorMessage,
    trailingByteCount,
  };
}

function readHeaders(reader: BodyReader): HeaderPairs {
  const count = reader.number(2, 'header count');
  const headers: [string, string][] = [];
  for (let index = 0; index < count; index += 1) {
    headers.push([reader.text(`header ${index} key`), reader.text(`header ${index} value`)]);
  }
  return headers;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

class BodyReader {
  readonly #body: Buffer;
  #offset = 0;

  constructor(body: Buffer) {
    this.#body = body;
  }

  get remainingCount(): number {
    return this.#body.length - this.#offset;
  }

  number(byteCount: number, field: string): number {
    return this.bytes(byteCount, field).readUIntBE(0, byteCount);
  }

  text(field: string): string {
    const bytes = this.bytes(this.number(2, `${field} length`), field);
    try {
      return utf8.decode(bytes);
    } catch {
      throw new WireFault(`${field} is not valid UTF-8: ${bytes.toString('hex')}`);
    }
  }

  bytes(byteCount: number, field: string): Buffer {
    if (byteCount > this.remainingCount) {
      throw new WireFault(
        `${field} needs ${countText(byteCount, 'byte')} at offset ${this.#offset}, but the body has only ${this.remainingCount} left`,
      );
    }
    const start = this.#offset;
    this.#offset += byteCount;
    return this.#body.subarray(start, this.#offset);
  }
}
