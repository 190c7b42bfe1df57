// Checks whether bytes are one strict JSON text (RFC 8259) in valid UTF-8, without building any value: payloads are opaque bytes to the
// broker, and parsing them would cost more than everything else it does with them. Has two scanners with the same verdicts, of which the
// faster one cannot say what is wrong. Implements PUBLISH-013 to PUBLISH-018.

import { type JsonFault, maxJsonDepth, scanBytes } from './json/byte-scanner.ts';
import { VectorScanner } from './json/vector-scanner.ts';

export { maxJsonDepth };

/** The byte scanner takes less time for shorter texts. */
const minVectorBytes = 64;

const vectorScanner = new VectorScanner(maxJsonDepth);

/**
 * True if the bytes from `start` to before `end` are one JSON text: no byte order mark, nothing but white space around it, at most 64
 * arrays and objects inside each other. Duplicate keys and numbers of any size are allowed, as are escaped halves of surrogate pairs.
 */
export function scanJson(bytes: Buffer, start = 0, end = bytes.length): true | JsonFault {
  if (end - start >= minVectorBytes && vectorScanner.accepts(bytes, start, end)) return true;
  return scanBytes(bytes.subarray(start, end));
}

/** See `VectorScanner.buffer`. */
export function scannableBuffer(): Buffer | undefined {
  return vectorScanner.buffer();
}
