// The positions of the fields of frames, for reports that show bytes. An incomplete frame, or one with wrong lengths, has its readable
// fields, and the remaining bytes as one field. Nothing is judged here.
import { countText } from '../count-text.ts';
import { Command, commandName } from '../wire/command.ts';

export const fieldNames = [
  'length',
  'flags',
  'version',
  'command',
  'id',
  'queue',
  'payload',
  'headers',
  'error',
  'rest',
] as const;
export type FieldName = (typeof fieldNames)[number];

/** A field with its length prefix. */
export type FrameField = {
  readonly name: FieldName;
  /** Byte offsets; `end` is exclusive. */
  readonly start: number;
  readonly end: number;
  /** The value of the field in words. */
  readonly text: string;
};

/** The fields of the frames in `bytes`, in their order; together they are all of `bytes`, which may end in the middle of a frame. */
export function frameFields(bytes: Buffer): readonly FrameField[] {
  const reader = new FieldReader(bytes);
  while (reader.isInside) readFrame(reader);
  return reader.end();
}

function readFrame(reader: FieldReader): void {
  reader.openFrame();
  const length = reader.number('length', 4, (value) => `${countText(value, 'byte')} of body`);
  const flags = reader.number('flags', 1, flagsText);
  if (length === undefined || flags === undefined) return;
  reader.openBody(length);
  if (flags === 0) readBody(reader);
  reader.closeBody(flags === 0 ? 'bytes behind the last field' : 'the compressed body');
}

function readBody(reader: FieldReader): void {
  reader.number('version', 1, String);
  const command = reader.number('command', 1, (value) => `${value}, ${commandName(value)}`);
  reader.counted('id', 2);
  reader.counted('queue', 2);
  reader.counted('payload', 4);
  reader.headers();
  if (command !== Command.Error) return;
  reader.counted('error', 2);
  reader.counted('error', 2);
}

function flagsText(flags: number): string {
  const names: Readonly<Record<number, string>> = { 0: 'not compressed', 1: 'gzip', 2: 'brotli' };
  return `${flags}, ${names[flags] ?? 'unknown'}`;
}

/** After the first field that is incomplete or too long for its frame, all remaining bytes are one field. */
class FieldReader {
  readonly #bytes: Buffer;
  readonly #fields: FrameField[] = [];
  #at = 0;
  /** The end of the frame by its length; the bytes may end before it. */
  #frameEnd = Number.POSITIVE_INFINITY;
  #isBroken = false;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Whether another field may be read. */
  get isInside(): boolean {
    return !this.#isBroken && this.#at < this.#bytes.length;
  }

  openFrame(): void {
    this.#frameEnd = Number.POSITIVE_INFINITY;
  }

  openBody(lengthBytes: number): void {
    this.#frameEnd = this.#at + lengthBytes;
  }

  /** Adds the rest of the body as one field. */
  closeBody(restText: string): void {
    if (!this.#isBroken && this.#at < this.#frameEnd) this.#add('rest', this.#frameEnd, restText);
  }

  /** Undefined when it is not there. */
  number(name: FieldName, byteCount: number, text: (value: number) => string): number | undefined {
    const value = this.#peek(this.#at, byteCount);
    if (value === undefined) this.#isBroken = true;
    else this.#add(name, this.#at + byteCount, text(value));
    return value;
  }

  /** A length prefix of `byteCount` bytes and its text. */
  counted(name: FieldName, byteCount: number): void {
    const length = this.#peek(this.#at, byteCount);
    const end = this.#at + byteCount + (length ?? 0);
    if (length === undefined || end > this.#frameEnd) this.#isBroken = true;
    else this.#add(name, end, length === 0 ? 'empty' : countText(length, 'byte'));
  }

  /** A count and that number of text pairs. */
  headers(): void {
    const count = this.#peek(this.#at, 2);
    let end: number | undefined = this.#at + 2;
    for (let part = 0; part < 2 * (count ?? 0) && end !== undefined; part += 1) end = this.#afterText(end);
    if (count === undefined || end === undefined) this.#isBroken = true;
    else this.#add('headers', end, count === 0 ? 'none' : String(count));
  }

  end(): readonly FrameField[] {
    if (this.#at < this.#bytes.length) this.#add('rest', this.#bytes.length, 'bytes that fit no field');
    return this.#fields;
  }

  /** The end of the text at `start`; undefined if its length is missing or too large. */
  #afterText(start: number): number | undefined {
    const length = this.#peek(start, 2);
    const end = start + 2 + (length ?? 0);
    return length === undefined || end > this.#frameEnd ? undefined : end;
  }

  #peek(start: number, byteCount: number): number | undefined {
    const isThere = !this.#isBroken && start + byteCount <= Math.min(this.#frameEnd, this.#bytes.length);
    return isThere ? this.#bytes.readUIntBE(start, byteCount) : undefined;
  }

  #add(name: FieldName, end: number, text: string): void {
    if (this.#isBroken && name !== 'rest') return;
    const shownEnd = Math.min(end, this.#bytes.length);
    if (shownEnd === this.#at) return;
    this.#fields.push({ name, start: this.#at, end: shownEnd, text });
    this.#at = shownEnd;
    this.#isBroken ||= end > shownEnd;
  }
}
