// The received frames of one connection, each of which can be taken once, and the waits for frames. A wait ends with its frame, at its
// deadline, or when no frame can arrive any more; in the last two cases it throws an ExpectationFailure. Knows no socket.

import type { FramePattern } from '../connection.ts';
import { ExpectationFailure } from '../expectation.ts';
import { frameText } from '../trace.ts';
import type { ReceivedFrame } from './frame.ts';

export type Wait = {
  readonly matches: (frame: ReceivedFrame) => boolean;
  readonly what: string;
  readonly withinMs: number;
  readonly clause?: string | undefined;
  /** Returns the requirement by which the frame must come; called only if it does not come. */
  readonly reliesOn?: (() => string | undefined) | undefined;
};

type Waiter = Wait & {
  readonly resolve: (frame: ReceivedFrame) => void;
  readonly reject: (failure: ExpectationFailure) => void;
  readonly timer: NodeJS.Timeout;
};

export class Inbox {
  readonly #received: ReceivedFrame[];
  #untaken: ReceivedFrame[] = [];
  #waiters: Waiter[] = [];
  /** Why no more frames can arrive; undefined while they can. */
  #endReason: string | undefined;
  /** The MUST that the broker broke by it; undefined: none that the bytes alone show. */
  #brokenRule: string | undefined;

  /** `past`: frames that were received and taken before; `received` starts with them. */
  constructor(past: readonly ReceivedFrame[] = []) {
    this.#received = [...past];
  }

  get received(): readonly ReceivedFrame[] {
    return this.#received;
  }

  get untaken(): readonly ReceivedFrame[] {
    return this.#untaken;
  }

  /** Adds a received frame: resolves the oldest wait that it matches, or keeps the frame for a later wait. */
  add(frame: ReceivedFrame): void {
    this.#received.push(frame);
    const waiter = this.#waiters.find((candidate) => candidate.matches(frame));
    if (waiter === undefined) {
      this.#untaken.push(frame);
      return;
    }
    this.#remove(waiter);
    waiter.resolve(frame);
  }

  /** No more frames can arrive: all current and later waits fail with this reason. `broken`: the MUST that the broker broke by it. */
  end(reason: string, broken?: string): void {
    if (this.#endReason === undefined) this.#brokenRule = broken;
    this.#endReason ??= reason;
    for (const waiter of [...this.#waiters]) {
      this.#remove(waiter);
      waiter.reject(this.#failure(waiter, reason));
    }
  }

  /** The oldest wait that has not ended. */
  get openWait(): Wait | undefined {
    return this.#waiters[0];
  }

  take(wait: Wait): Promise<ReceivedFrame> {
    const ready = this.#untaken.find((frame) => wait.matches(frame));
    if (ready !== undefined) {
      this.#untaken = this.#untaken.filter((frame) => frame !== ready);
      return Promise.resolve(ready);
    }
    if (this.#endReason !== undefined) return Promise.reject(this.#failure(wait, this.#endReason));
    return this.#enqueue(wait);
  }

  #enqueue(wait: Wait): Promise<ReceivedFrame> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#remove(waiter);
        reject(this.#failure(waiter, `no matching frame within ${wait.withinMs} ms`));
      }, wait.withinMs);
      const waiter: Waiter = { ...wait, resolve, reject, timer };
      this.#waiters.push(waiter);
    });
  }

  #remove(waiter: Waiter): void {
    clearTimeout(waiter.timer);
    this.#waiters = this.#waiters.filter((other) => other !== waiter);
  }

  #failure(wait: Wait, reason: string): ExpectationFailure {
    const others = this.#untaken.slice(-3).map(frameText);
    const instead = others.length === 0 ? '' : `; came instead: ${others.join(' | ')}`;
    return new ExpectationFailure(`${wait.what} did not come`, {
      expected: wait.what,
      actual: `${reason}${instead}`,
      clause: wait.clause,
      broken: this.#brokenRule,
      reliesOn: wait.reliesOn?.(),
    });
  }
}

export function patternMatches(pattern: FramePattern, frame: ReceivedFrame): boolean {
  if (typeof pattern === 'function') return pattern(frame);
  if (typeof pattern === 'string') return frame.commandName === pattern;
  const { command, id, queue } = pattern;
  const commands = command === undefined ? [frame.commandName] : [command].flat();
  return (
    commands.some((name) => name === frame.commandName) &&
    (id === undefined || frame.id === id) &&
    (queue === undefined || frame.queue === queue)
  );
}

export function patternText(pattern: FramePattern): string {
  if (typeof pattern === 'function') return 'a matching frame';
  if (typeof pattern === 'string') return pattern;
  const names = pattern.command === undefined ? 'a frame' : [pattern.command].flat().join(' or ');
  const id = pattern.id === undefined ? '' : ` with id ${pattern.id}`;
  const queue = pattern.queue === undefined ? '' : ` for queue ${pattern.queue}`;
  return `${names}${id}${queue}`;
}
