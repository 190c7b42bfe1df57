// The broker's end of a simulated connection: a real stream whose line to the client is as good or bad as the seed has it. Bytes arrive
// late, split and joined anywhere; the client may stop reading, end its side, or disappear. What the broker writes is shown at the moment
// it is written, and again when the client receives it.

import { Duplex } from 'node:stream';
import { passLent } from '../lent-chunk.ts';
import type { Random } from './random.ts';
import type { SimulatedEnvironment } from './simulated-environment.ts';

export type LineHabits = {
  readonly maxLatencyMs: number;
  /** How often less is carried at a time than there is, 0 to 1. */
  readonly splitChance: number;
};

/** What happens on the line; the client listens to the first three and the last, the witness to all. */
export type LineEvents = {
  /** The broker has written these bytes. */
  readonly written: (bytes: Buffer) => void;
  /** So many more bytes of those have reached the client. */
  readonly carried: (count: number) => void;
  /** The broker has ended its side, and all before it has reached the client; or the connection was lost. */
  readonly ended: () => void;
  /** So many more bytes of the client have reached the broker. */
  readonly handedOver: (count: number) => void;
  /** The client's end of its side, or the loss of the connection, has reached the broker. */
  readonly clientGone: () => void;
  readonly split: () => void;
  readonly joined: () => void;
  readonly delayed: () => void;
};

type Written = { length: number; readonly done: () => void };

export class SimulatedSocket extends Duplex {
  readonly #environment: SimulatedEnvironment;
  readonly #random: Random;
  readonly #habits: LineHabits;
  readonly #events: LineEvents;
  #toBroker: Buffer[] = [];
  #clientHasEnded = false;
  #isCarryingIn = false;
  #brokerReads = true;
  #toClient: Written[] = [];
  #brokerHasEnded = false;
  #isCarryingOut = false;
  #isStalled = false;
  #isOver = false;

  constructor(environment: SimulatedEnvironment, random: Random, habits: LineHabits, events: LineEvents) {
    super({ allowHalfOpen: true });
    this.#environment = environment;
    this.#random = random;
    this.#habits = habits;
    this.#events = events;
  }

  override emit(event: string | symbol, ...args: unknown[]): boolean {
    const [chunk] = args;
    if (event !== 'data' || !Buffer.isBuffer(chunk)) return super.emit(event, ...args);
    return passLent(chunk, (lent) => super.emit(event, lent));
  }

  /** The client sends. */
  sendToBroker(bytes: Buffer): void {
    this.#toBroker.push(bytes);
    this.#carryIn();
  }

  /** The client ends its side, after everything that it has sent. */
  endByClient(): void {
    this.#clientHasEnded = true;
    this.#carryIn();
  }

  /** The client disappears: bytes in transit are lost. */
  breakByClient(): void {
    if (this.#isOver) return;
    this.#events.clientGone();
    this.destroy(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
  }

  /** Whether the client reads. */
  setStalled(stalled: boolean): void {
    this.#isStalled = stalled;
    this.#carryOut();
  }

  /** Whether the broker has read all bytes that have reached it. */
  get isTakenUp(): boolean {
    return this.readableLength === 0 && !this.isPaused();
  }

  override write(chunk: Buffer, ...rest: unknown[]): boolean {
    if (!this.destroyed) this.#events.written(chunk);
    return (super.write as (...all: unknown[]) => boolean).call(this, chunk, ...rest);
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#toClient.push({ length: chunk.length, done });
    this.#carryOut();
  }

  override _final(done: () => void): void {
    this.#brokerHasEnded = true;
    this.#carryOut();
    done();
  }

  override _read(): void {
    this.#brokerReads = true;
    this.#carryIn();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#toBroker = [];
    this.#toClient = [];
    this.#end();
    done(error);
  }

  #carryIn(): void {
    if (this.#isCarryingIn || !this.#brokerReads || this.destroyed || this.readableEnded) return;
    if (this.#toBroker.length === 0 && !this.#clientHasEnded) return;
    this.#isCarryingIn = true;
    this.#environment.after(this.#latency(), () => {
      this.#isCarryingIn = false;
      this.#bringToBroker();
      this.#carryIn();
    });
  }

  #bringToBroker(): void {
    if (this.destroyed || this.readableEnded) return;
    if (this.#toBroker.length > 1) this.#events.joined();
    const waiting = Buffer.concat(this.#toBroker);
    if (waiting.length === 0) {
      if (!this.#clientHasEnded) return;
      this.#clientHasEnded = false;
      this.#events.clientGone();
      this.push(null);
      return;
    }
    const count = this.#howMany(waiting.length);
    this.#toBroker = count === waiting.length ? [] : [waiting.subarray(count)];
    // Reported before, because a flowing stream passes bytes on immediately.
    this.#events.handedOver(count);
    this.#brokerReads = this.push(waiting.subarray(0, count));
  }

  #carryOut(): void {
    if (this.#isCarryingOut || this.#isStalled || this.#isOver) return;
    if (this.#toClient.length === 0 && !this.#brokerHasEnded) return;
    this.#isCarryingOut = true;
    this.#environment.after(this.#latency(), () => {
      this.#isCarryingOut = false;
      this.#bringToClient();
      this.#carryOut();
    });
  }

  #bringToClient(): void {
    if (this.#isOver || this.#isStalled) return;
    const waiting = this.#toClient.reduce((sum, { length }) => sum + length, 0);
    if (waiting === 0) {
      if (this.#brokerHasEnded) this.#end();
      return;
    }
    let left = this.#howMany(waiting);
    const carried = left;
    while (left > 0) {
      const first = this.#toClient[0];
      if (first === undefined) break;
      const taken = Math.min(left, first.length);
      first.length -= taken;
      left -= taken;
      if (first.length > 0) break;
      this.#toClient.shift();
      first.done();
    }
    this.#events.carried(carried);
  }

  #howMany(waiting: number): number {
    if (waiting === 1 || !this.#random.chance(this.#habits.splitChance)) return waiting;
    this.#events.split();
    return this.#random.whole(1, waiting - 1);
  }

  #latency(): number {
    const latency = this.#random.whole(0, this.#habits.maxLatencyMs);
    if (latency > 0) this.#events.delayed();
    return latency;
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#events.ended();
  }
}
