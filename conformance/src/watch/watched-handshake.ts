// What the handshake of one connection allows the broker: answers only after it, and compressed frames only with the agreed algorithm. Judges
// only what is certain: of a connection that an earlier check opened it is not known what was agreed. Areas: CONN, COMPRESS.
import { frameText } from '../trace.ts';
import { Command } from '../wire/command.ts';
import { algorithmFlags, defaultThresholdBytes } from '../wire/compression.ts';
import type { FrameFields, ReceivedFrame } from '../wire/frame.ts';
import { headerPairs } from '../wire/frame.ts';
import type { UntimedBreach } from './watched-breach.ts';

export class WatchedHandshake {
  /** The connection was opened by this check. */
  #isNew = false;
  #connectCount = 0;
  #refusedCount = 0;
  #isAccepted = false;
  /** The algorithms that a Connect listed, in lower case; undefined: none had the header. */
  #offered: Set<string> | undefined;
  /** The algorithm in the ConnectAck. */
  #agreed: string | undefined;

  opened(): void {
    this.#isNew = true;
  }

  connects({ headers }: FrameFields): void {
    this.#connectCount += 1;
    for (const [name, value] of headerPairs(headers))
      if (name === 'supported-compression') this.#offers(value);
  }

  refused(): void {
    this.#refusedCount += 1;
  }

  /** The MUST that a frame breaks by itself; `isAnswer`: it is a positive answer or a delivery. */
  breach(frame: ReceivedFrame, isAnswer: boolean): UntimedBreach | undefined {
    if (frame.command === Command.ConnectAck) return this.#accepted(frame);
    if (frame.flags !== 0) return this.#compressedBreach(frame);
    if (isAnswer && this.#isNew && !this.#isAccepted && this.#connectCount === this.#refusedCount)
      return broken('CONN-001', 'nothing is carried out before a Connect is accepted', 'no answer', frame);
    return undefined;
  }

  #offers(list: string): void {
    this.#offered ??= new Set();
    for (const name of list.split(',')) this.#offered.add(name.trim().toLowerCase());
  }

  #accepted(frame: ReceivedFrame): UntimedBreach | undefined {
    this.#isAccepted = true;
    this.#agreed = frame.header('negotiated-compression')?.toLowerCase();
    if (this.#connectCount > 0 && this.#offered === undefined && frame.flags !== 0)
      return this.#compressedBreach(frame);
    if (this.#connectCount === 0 || this.#agreed === undefined) return undefined;
    if (this.#offered === undefined)
      return broken('COMPRESS-010', 'nothing is agreed on that was not offered', 'no algorithm', frame);
    if (this.#offered.has(this.#agreed)) return undefined;
    const expected = `one of ${[...this.#offered].join(', ')}`;
    return broken('COMPRESS-009', 'an algorithm is agreed on that was offered', expected, frame);
  }

  #compressedBreach(frame: ReceivedFrame): UntimedBreach | undefined {
    if (this.#connectCount > 0 && this.#offered === undefined)
      return broken('COMPRESS-004', 'no frame is compressed without an agreement', 'flags 0', frame);
    // A second Connect may have changed what was agreed.
    if (this.#connectCount === 1 && this.#isAccepted && flagsOf(this.#agreed) !== frame.flags) {
      const clause = this.#agreed === undefined ? 'COMPRESS-004' : 'COMPRESS-007';
      return broken(clause, 'a frame is compressed as agreed', this.#agreed ?? 'flags 0', frame);
    }
    if (bodyBytes(frame) >= defaultThresholdBytes) return undefined;
    const expected = `flags 0 below ${defaultThresholdBytes} bytes`;
    return broken('COMPRESS-005', 'short frames are not compressed', expected, frame);
  }
}

function flagsOf(algorithm: string | undefined): number | undefined {
  return algorithm === 'gzip' || algorithm === 'brotli' ? algorithmFlags[algorithm] : undefined;
}

function broken(clause: string, what: string, expected: string, frame: ReceivedFrame): UntimedBreach {
  const flags = frame.flags === 0 ? '' : `, flags ${frame.flags}`;
  return { clause, what, expected, actual: `${frameText(frame)}${flags}` };
}

/** The length of the body before its compression. */
function bodyBytes(frame: ReceivedFrame): number {
  const texts = [frame.id, frame.queue, ...frame.headers.flat()];
  if (frame.command === Command.Error) texts.push(frame.errorCode, frame.errorMessage);
  const fixed = 8 + frame.payload.length + frame.trailingByteCount;
  return texts.reduce((sum, text) => sum + 2 + Buffer.byteLength(text), fixed);
}
