// The limits that clients have reached: counts each kind, and tells the operator with at most one line a second for each kind, so that nobody
// can flood the log. A line says how many were left out since the last one. Knows no limit and refuses nothing.

import type { Clock } from '../model/environment.ts';
import { ErrorCode } from '../model/error-code.ts';
import type { LogFields, Logger } from '../model/logger.ts';

/** One sentence for the log for each kind. */
const sentences = {
  messageSize: 'a message is over the limit of size',
  malformedMessages: 'a message is malformed, or one of its fields is over a limit',
  messageRate: 'a client exceeds its rate of messages',
  passwordChecks: 'as many passwords wait to be checked as may',
  refusals: 'a client goes on sending what is refused: reading from it waits',
  queuesAndSubscriptions: 'there are as many queues or subscriptions as may be',
  usersAndPermissions: 'there are as many users, or a user has as many permissions, as may be',
  fullQueues: 'a queue is full, or a client has as many blocked publishes as may be',
  memory: 'messages or queues take as much memory as they may',
  connections: 'there are as many connections as may be',
  connectionsPerAddress: 'an address has opened as many connections as it may',
  handshakeTimeout: 'a client has not connected in time',
  frameTimeout: 'a client has not completed a frame in time',
  idleTimeout: 'a client has sent nothing for too long',
  pendingInput: 'a client sends faster than it is served: reading waits',
  unsentOutput: 'a client does not read: reading from it waits',
  bufferedBytes:
    'the buffers of all connections take as much memory as they may: reading from a client waits',
} as const;

export type LimitKind = keyof typeof sentences;

export type LimitCounts = Readonly<Record<LimitKind, number>>;

const PAUSE_MS = 1000;

export class LimitEvents {
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #counts = Object.fromEntries(Object.keys(sentences).map((kind) => [kind, 0])) as Record<
    LimitKind,
    number
  >;
  readonly #lastLines = new Map<LimitKind, { readonly at: number; readonly count: number }>();

  constructor(logger: Logger, clock: Clock) {
    this.#logger = logger;
    this.#clock = clock;
  }

  /** How often each limit was reached. Never falls. */
  get counts(): LimitCounts {
    return { ...this.#counts };
  }

  reached(kind: LimitKind, fields: LogFields = {}): void {
    this.#counts[kind] += 1;
    const now = this.#clock.now();
    const last = this.#lastLines.get(kind) ?? { at: Number.NEGATIVE_INFINITY, count: 0 };
    if (now - last.at < PAUSE_MS) return;
    const suppressed = this.#counts[kind] - last.count - 1;
    this.#lastLines.set(kind, { at: now, count: this.#counts[kind] });
    this.#logger.info(sentences[kind], { ...fields, ...(suppressed > 0 ? { suppressed } : {}) });
  }

  /** An Error was sent; most codes are no limit's. A code of several limits is left out: who refuses by it reports which was reached. */
  errorSent(code: string | undefined, fields: LogFields): void {
    const kind = kindsByCode.get(code ?? '');
    if (kind !== undefined) this.reached(kind, fields);
  }
}

/** Whether an Error with this code has a line of its own. */
export function isLimitCode(code: string): boolean {
  return codesOfSeveralLimits.has(code) || kindsByCode.has(code);
}

const codesOfSeveralLimits: ReadonlySet<string> = new Set([ErrorCode.RateLimited, ErrorCode.LimitExceeded]);

const kindsByCode: ReadonlyMap<string, LimitKind> = new Map([
  [ErrorCode.MessageTooLarge, 'messageSize'],
  [ErrorCode.InvalidMessage, 'malformedMessages'],
  [ErrorCode.QueueFull, 'fullQueues'],
  [ErrorCode.MemoryLimit, 'memory'],
  [ErrorCode.ConnectionLimit, 'connections'],
]);
