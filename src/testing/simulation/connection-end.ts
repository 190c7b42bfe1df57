// The client's end of a simulated connection: encodes commands to bytes on the line and decodes frames from the broker's bytes, and reports
// both to the witness when they pass the broker's end.

import { type Algorithm, algorithmOf } from '../../protocol/compression.ts';
import { decodeMessage } from '../../protocol/decode.ts';
import { isFault } from '../../protocol/fault.ts';
import { FrameSplitter } from '../../protocol/frame-splitter.ts';
import { defaultLimits } from '../../protocol/limits.ts';
import type { Message } from '../../protocol/message.ts';
import { frameOfCommand } from './client-wire.ts';
import type { Observation, SentCommand } from './history.ts';
import type { Random } from './random.ts';
import { inPlaceCompressor } from './simulated-compressor.ts';
import type { SimulatedEnvironment } from './simulated-environment.ts';
import { type LineHabits, SimulatedSocket } from './simulated-socket.ts';
import type { Tally } from './tally.ts';

export type EndParts = {
  readonly environment: SimulatedEnvironment;
  readonly random: Random;
  readonly habits: LineHabits;
  readonly tally: Tally;
  readonly observe: (observation: Observation) => void;
  /** The earliest batch that may have caused a frame that is written now. */
  readonly sinceEpoch: () => number;
  readonly onFrame: (message: Message) => void;
  readonly onEnd: () => void;
};

type OnTheWay<Item> = { readonly item: Item; readonly endsAt: number };

export class ConnectionEnd {
  readonly number: number;
  readonly socket: SimulatedSocket;
  readonly compression: Algorithm | undefined;
  readonly #parts: EndParts;
  readonly #splitter = new FrameSplitter(defaultLimits);
  #toBroker: OnTheWay<SentCommand>[] = [];
  #sentBytes = 0;
  #handedOverBytes = 0;
  #toClient: OnTheWay<Message>[] = [];
  #writtenBytes = 0;
  #frameEndsAt = 0;
  #carriedBytes = 0;
  #isOver = false;
  #mayCompress = false;

  constructor(number: number, compression: Algorithm | undefined, parts: EndParts) {
    this.number = number;
    this.compression = compression;
    this.#parts = parts;
    const { environment, random, habits, tally } = parts;
    this.socket = new SimulatedSocket(environment, random.fork(), habits, {
      written: (bytes) => this.#written(bytes),
      carried: (count) => this.#carried(count),
      ended: () => this.#ended(),
      handedOver: (count) => this.#handedOver(count),
      clientGone: () => parts.observe({ kind: 'clientGone', connection: number }),
      split: () => tally.fault('bytes split on the way'),
      joined: () => tally.fault('bytes joined on the way'),
      delayed: () => tally.fault('bytes delayed on the way'),
    });
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** After the handshake frames may be compressed. */
  connected(): void {
    this.#mayCompress = true;
  }

  send(command: SentCommand): void {
    if (this.#isOver) return;
    const { random } = this.#parts;
    const frame = frameOfCommand(command, {
      compression: this.compression,
      compressed: this.#mayCompress && random.chance(0.3) ? this.compression : undefined,
      ackId: random.chance(0.3) ? `ack-${this.#sentBytes}` : undefined,
    });
    this.#sentBytes += frame.length;
    this.#toBroker.push({ item: command, endsAt: this.#sentBytes });
    this.socket.sendToBroker(frame);
  }

  #handedOver(count: number): void {
    this.#handedOverBytes += count;
    const at = this.#parts.environment.clock.now();
    for (let next = this.#toBroker[0]; next !== undefined; next = this.#toBroker[0]) {
      if (next.endsAt > this.#handedOverBytes) return;
      this.#toBroker.shift();
      this.#parts.observe({ kind: 'command', connection: this.number, command: next.item, at });
    }
  }

  #written(bytes: Buffer): void {
    this.#writtenBytes += bytes.length;
    // A copy, because the broker may reuse the memory.
    this.#splitter.push(Buffer.from(bytes));
    for (let frame = this.#splitter.next(); frame !== undefined; frame = this.#splitter.next()) {
      if (isFault(frame)) throw new Error(`The broker wrote an invalid frame: ${frame.text}`);
      this.#frameEndsAt += 5 + frame.body.length;
      const message = decode(frame.body, algorithmOf(frame.flags));
      this.#toClient.push({ item: message, endsAt: this.#frameEndsAt });
      const sinceEpoch = this.#parts.sinceEpoch();
      this.#parts.observe({ kind: 'frame', connection: this.number, message, sinceEpoch });
    }
  }

  #carried(count: number): void {
    this.#carriedBytes += count;
    for (let next = this.#toClient[0]; next !== undefined; next = this.#toClient[0]) {
      if (next.endsAt > this.#carriedBytes) return;
      this.#toClient.shift();
      this.#parts.onFrame(next.item);
    }
  }

  #ended(): void {
    this.#isOver = true;
    this.#parts.observe({ kind: 'brokerEnded', connection: this.number });
    this.#parts.onEnd();
  }
}

function decode(body: Buffer, algorithm: Algorithm | undefined): Message {
  const inflated =
    algorithm === undefined
      ? body
      : inPlaceCompressor().decompress(algorithm, body, defaultLimits.maxDecompressedSizeBytes);
  if (inflated instanceof Promise || isFault(inflated))
    throw new Error('The broker wrote a body that cannot be inflated.');
  const message = decodeMessage(inflated);
  if (isFault(message)) throw new Error(`The broker wrote a body that cannot be read: ${message.text}`);
  return message;
}
