// A small writer of bodies and frames for tests. It shares nothing with the encoder under test and checks nothing, so it can write invalid
// frames. Layout: FRAME-001 and BODY-001.

/** Text is written as UTF-8; a Uint8Array stands as it is, valid or not. */
export type TextBytes = string | Uint8Array;

export type BodyParts = {
  readonly version?: number;
  readonly command: number;
  readonly id?: TextBytes;
  readonly queue?: TextBytes;
  readonly payload?: TextBytes;
  readonly headers?: readonly (readonly [TextBytes, TextBytes])[];
  /** Written when given, whatever the command. */
  readonly errorCode?: TextBytes;
  readonly errorMessage?: TextBytes;
  readonly trailing?: Uint8Array;
};

export function bodyBytes(parts: BodyParts): Buffer {
  const headers = parts.headers ?? [];
  return Buffer.concat([
    Buffer.from([parts.version ?? 1, parts.command]),
    string16(parts.id ?? 'id-1'),
    string16(parts.queue ?? ''),
    sized(4, parts.payload ?? ''),
    bigEndian(2, headers.length),
    ...headers.flatMap(([key, value]) => [string16(key), string16(value)]),
    ...[parts.errorCode, parts.errorMessage].flatMap((text) => (text === undefined ? [] : [string16(text)])),
    parts.trailing ?? Buffer.alloc(0),
  ]);
}

/** A frame around a body; `announced` replaces the true length. */
export function frameBytes(body: Uint8Array, flags = 0, announced = body.length): Buffer {
  return Buffer.concat([bigEndian(4, announced), Buffer.from([flags]), body]);
}

export function string16(text: TextBytes): Buffer {
  return sized(2, text);
}

function sized(prefixBytes: number, text: TextBytes): Buffer {
  const bytes = Buffer.from(text as Uint8Array);
  return Buffer.concat([bigEndian(prefixBytes, bytes.length), bytes]);
}

function bigEndian(byteCount: number, value: number): Buffer {
  const bytes: number[] = [];
  for (let index = byteCount - 1; index >= 0; index -= 1) bytes.push(Math.floor(value / 256 ** index) % 256);
  return Buffer.from(bytes);
}
