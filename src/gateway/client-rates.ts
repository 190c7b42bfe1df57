// The rates of one client: what it publishes, and what it is refused. What it publishes at once is read piece by piece, so that others need
// not wait for all of it, and so are acks of more than it was sent. A client that goes on sending what is refused would keep the broker busy
// with refusals: nothing more is read of it until the second is over. Implements LIMIT-001 to LIMIT-007, LIMIT-026 to LIMIT-028 and LIMIT-030.

import type { Clock } from '../model/environment.ts';
import { ErrorCode } from '../model/error-code.ts';
import { Command } from '../protocol/command.ts';
import type { DecodedMessage } from '../protocol/decode.ts';
import type { ProtocolFault } from '../protocol/fault.ts';
import { RateLimit } from './rate-limit.ts';
import type { ReadTurn } from './read-turns.ts';

const WINDOW_MS = 1000;
/** A client may be refused so many commands in a second, or as many as it may publish if these are more. */
const MIN_REFUSALS = 1000;
/** What is read in a millisecond of what a client publishes at once, or acknowledges in vain, costs as much as so many messages without a payload. */
const PIECE_COST = 16;
/** How many bytes of a payload cost as much as a message. */
const MESSAGE_BYTES = 2048;
/** How many bytes of a body that was decompressed for nothing make its client wait for a millisecond. */
const BYTES_PER_MS = 32_768;

/**
 * How long nothing more is read of a client whose command was refused, in whole milliseconds: 0 or more. `inflatedBytes`: the decompressed
 * length of that command's body.
 */
export function wastedMs(inflatedBytes: number): number {
  return Math.floor(inflatedBytes / BYTES_PER_MS);
}

export class ClientRates {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #published: RateLimit;
  /** A piece has at least so many messages, whatever they cost: twice as many as the rate needs. */
  readonly #minPieceCount: number;
  #pieceSince = Number.NEGATIVE_INFINITY;
  #pieceCount = 0;
  #pieceCost = 0;
  /** Messages that were sent to the client, without as many as it has acknowledged since. */
  #unacknowledgedCount = 0;
  readonly #maxRefusals: number;
  #refusedSince = Number.NEGATIVE_INFINITY;
  #refusedCount = 0;

  /** `maxPerSecond`: the publishes of the client in a second, 1 or more. */
  constructor(maxPerSecond: number, clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
    this.#published = new RateLimit(maxPerSecond, WINDOW_MS);
    this.#minPieceCount = Math.ceil((2 * maxPerSecond) / WINDOW_MS);
    this.#maxRefusals = Math.max(maxPerSecond, MIN_REFUSALS);
  }

  /** A message was sent to the client. */
  delivered(): void {
    this.#unacknowledgedCount += 1;
  }

  /** Counts a command, and holds its client back if it is much at once. Returns why it is refused; undefined if it is within the rate. */
  admit(
    message: Pick<DecodedMessage, 'command' | 'id' | 'payloadLength'>,
    turn: Pick<ReadTurn, 'holdBack'>,
  ): ProtocolFault | undefined {
    if (message.command === Command.Ack) this.#acknowledged(turn);
    if (message.command !== Command.Publish) return undefined;
    const now = this.#clock.now();
    this.#readPiece(now, message.payloadLength, turn);
    if (this.#published.admit(now)) return undefined;
    const text = 'More messages a second than the broker takes from one client.';
    return { kind: 'fault', code: ErrorCode.RateLimited, text, closes: false, id: message.id };
  }

  /**
   * Counts a refusal in a period of one second, which begins with its first one. Returns for how many whole milliseconds nothing more is to be read
   * of the client, 1 to 1000, with the last one that it may have; 0 before it, and behind it, of commands that were read before.
   */
  refused(): number {
    const now = this.#clock.now();
    if (now - this.#refusedSince >= WINDOW_MS) {
      this.#refusedSince = now;
      this.#refusedCount = 0;
    }
    this.#refusedCount += 1;
    const isLast = this.#refusedCount === this.#maxRefusals;
    return isLast ? Math.ceil(this.#refusedSince + WINDOW_MS - now) : 0;
  }

  #acknowledged(turn: Pick<ReadTurn, 'holdBack'>): void {
    if (this.#unacknowledgedCount > 0) this.#unacknowledgedCount -= 1;
    else this.#readPiece(this.#clock.now(), 0, turn);
  }

  /** Counts what is read in this millisecond, and ends the piece if it is enough. */
  #readPiece(now: number, payloadBytes: number, turn: Pick<ReadTurn, 'holdBack'>): void {
    if (now - this.#pieceSince >= 1) {
      this.#pieceSince = now;
      this.#pieceCount = 0;
      this.#pieceCost = 0;
    }
    this.#pieceCount += 1;
    this.#pieceCost += 1 + payloadBytes / MESSAGE_BYTES;
    if (this.#pieceCost >= PIECE_COST && this.#pieceCount >= this.#minPieceCount) turn.holdBack();
  }
}
