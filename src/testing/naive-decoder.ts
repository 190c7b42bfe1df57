// A second, simpler decoder of bodies, written from the layout with DataView and plain loops, to compare the fast one with. Must not share
// code with src/protocol. Implements BODY-001 to BODY-012.

export type NaiveMessage = {
  readonly version: number;
  readonly command: number;
  readonly id: string;
  readonly queue: string;
  readonly payload: readonly number[];
  /** In order of first occurrence. */
  readonly headers: readonly (readonly [string, string])[];
  readonly errorCode: string;
  readonly errorMessage: string;
  readonly endAt: number;
};

/** The message, or 'broken' if the body is incomplete or contains text that is not UTF-8. */
export function decodeNaively(body: Uint8Array): NaiveMessage | 'broken' {
  try {
    return decode(new DataView(body.buffer, body.byteOffset, body.byteLength));
  } catch (error) {
    // DataView and Uint8Array throw RangeError beyond their end, a fatal TextDecoder throws TypeError.
    if (error instanceof RangeError || error instanceof TypeError) return 'broken';
    throw error;
  }
}

function decode(view: DataView): NaiveMessage {
  let at = 0;

  function integer(byteCount: number): number {
    let value = 0;
    for (let index = 0; index < byteCount; index += 1) value = value * 256 + view.getUint8(at + index);
    at += byteCount;
    return value;
  }

  function bytes(length: number): number[] {
    const taken: number[] = [];
    for (let index = 0; index < length; index += 1) taken.push(view.getUint8(at + index));
    at += length;
    return taken;
  }

  function text(): string {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      new Uint8Array(bytes(integer(2))),
    );
  }

  const version = integer(1);
  const command = integer(1);
  const id = text();
  const queue = text();
  const payload = bytes(integer(4));
  const pairs: [string, string][] = [];
  for (let left = integer(2); left > 0; left -= 1) {
    const key = text();
    const value = text();
    const known = pairs.find((pair) => pair[0] === key);
    if (key === '' || value === '') continue;
    if (known === undefined) pairs.push([key, value]);
    else known[1] = value;
  }
  const errorCode = command === 99 ? text() : '';
  const errorMessage = command === 99 ? text() : '';
  return { version, command, id, queue, payload, headers: pairs, errorCode, errorMessage, endAt: at };
}
