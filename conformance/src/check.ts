// What a check is, and what it is given. A check is a plain object: data that can be listed, selected and explained, and one
// function that talks to the broker. It must not import anything from a broker, keep state between runs, or sleep: a
// positive wait has a deadline, an absence is proved with a sentinel. The engine alone decides what the end of `run` means.
//
// How to write one: return normally when the broker did right; let `ctx.assert`, `ctx.acceptable` and the waits of a
// connection throw when it did not; say `ctx.warn` or `ctx.should` for what a SHOULD recommends inside a MUST check. A return
// counts as a pass only after an assertion about one of the check's own clauses: where nothing can be decided, say
// `ctx.notShown`. Never catch an ExpectationFailure. Queue names come from `ctx.queue`, ids from `ctx.id`, times from `ctx.timing`.
import type { Capability, Level, Profile } from './catalogue-words.ts';
import type { ConfigurationRequest, QueueDefaultSettings } from './configuration.ts';
import type { Connection } from './connection.ts';
import type { Account } from './history/account.ts';
import type { HistoryRules, Operation } from './history/operation.ts';
import type { JsonText } from './json-value.ts';
import type { Random } from './random.ts';
import type { GoldenFrame } from './suite-data.ts';
import type { Timing } from './timing.ts';
import type { TraceEvent } from './trace.ts';
import type { FrameFields } from './wire/frame.ts';

export type Isolation =
  /** Shares a broker with other checks that run at the same time. The default. */
  | 'shared'
  /** Has a broker of its own, started for it: for server-wide counters, limits, faults that may do harm. */
  | 'fresh'
  /** As fresh, and may stop, crash and start it through `ctx.broker`. */
  | 'restart';

/** The least that must have been seen for a pass; below it the check ends as not shown. */
export type EvidenceFloor = {
  /** Frames received from the broker, the handshake's included. */
  readonly frames?: number;
  /** Deliver frames among them. */
  readonly messages?: number;
  /** HTTP answers. */
  readonly responses?: number;
  /** Assertions made; at least one about the check's own clauses is always required. */
  readonly assertions?: number;
};

export type Check = {
  /** Requirement id and a letter: `FRAME-004a`. Permanent once published. */
  readonly id: string;
  /** What the broker does when the check passes: `answers a Ping that arrives byte by byte`. */
  readonly title: string;
  /** Requirement ids; the first is the main one, whose level is the check's unless `level` says less. */
  readonly clauses: readonly [string, ...string[]];
  readonly level?: Level;
  readonly profile: Profile;
  readonly requires?: {
    readonly configuration?: ConfigurationRequest;
    readonly capabilities?: readonly Capability[];
  };
  /**
   * Asked of a broker that is started for the run, such as short timings; where it cannot be had (an attached broker, an adapter
   * that does not support it) the check runs with what there is. `ctx.target` has the values in force.
   */
  readonly prefers?: ConfigurationRequest;
  /** Spends its time waiting for the broker's timers: runs beside the other checks, on queues of its own. */
  readonly waits?: true;
  readonly isolation?: Isolation;
  /**
   * Plays random scenarios and judges them as a whole, so that nearly any fault of its area makes it fail: the self-test tries it
   * on the planted faults that name it, and on no others.
   */
  readonly broad?: true;
  /** Plays thousands of messages for as long as anything moves: it may take five minutes, whatever the timeout scale is. */
  readonly volume?: true;
  readonly evidence: EvidenceFloor;
  /** The acceptable outcomes in words, where there are several; `explain` and failures print them. */
  readonly accepts?: readonly string[];
  readonly run: (ctx: CheckContext) => Promise<void>;
};

export type CheckModule = readonly Check[];

export type ConnectOptions = {
  /** Headers of Connect, e.g. `supported-compression`. */
  readonly headers?: FrameFields['headers'];
  /**
   * A connection that no other check has used or will use. Without it the engine may hand out one that an earlier check left
   * clean. Say it when the check breaks the connection, judges its beginning, or counts connections. Options with headers
   * always give a new one.
   */
  readonly own?: boolean;
};

export type Detail = {
  readonly expected?: unknown;
  readonly actual?: unknown;
  readonly clause?: string;
  /** Other requirements whose breach would explain a failure here: a check that shows one of them broken blocks this one. */
  readonly possibleCauses?: readonly string[];
};

/**
 * Each call counts as one assertion about the requirement `clause`, the check's main one unless given; each failure ends the check.
 * `what` is the rule in words.
 */
export type Assertions = {
  equal(actual: unknown, expected: unknown, what: string, clause?: string): void;
  notEqual(actual: unknown, unexpected: unknown, what: string, clause?: string): void;
  /** The same JSON value, however written (`isSameJson`); undefined is no text. For payloads that the broker delivers. */
  sameJson(actual: JsonText | undefined, expected: JsonText, what: string, clause?: string): void;
  /** Structural equality: the order of object keys does not matter. */
  deepEqual(actual: unknown, expected: unknown, what: string, clause?: string): void;
  oneOf(actual: unknown, expected: readonly unknown[], what: string, clause?: string): void;
  /** Numbers; `low` and `high` are both allowed. */
  between(actual: unknown, low: number, high: number, what: string, clause?: string): void;
  /** The same for a time in milliseconds, with the unit in the failure. */
  betweenMs(actualMs: number, lowMs: number, highMs: number, what: string, clause?: string): void;
  matches(actual: unknown, pattern: RegExp, what: string, clause?: string): void;
  ok(condition: boolean, what: string, detail?: Detail): void;
  /** Ends the check: what came is none of the things that may come. */
  fail(what: string, detail?: Detail): never;
};

/** One outcome that the specification allows. With `difference`, taking it is a warning: a SHOULD was decided otherwise. */
export type Alternative<T> = {
  readonly title: string;
  readonly when: (actual: T) => boolean;
  readonly difference?: { readonly clause: string; readonly text: string };
};

export type HttpAnswer = {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The body parsed; an expectation failure when it is not JSON. */
  json(): unknown;
};

export type HttpRequest = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly withinMs?: number;
};

export type HttpSurface = {
  get(path: string, options?: HttpRequest): Promise<HttpAnswer>;
  request(path: string, options: HttpRequest): Promise<HttpAnswer>;
};

/** The process under test, for checks with isolation `restart`. Everywhere else each call is a fault of the check. */
export type BrokerControl = {
  /** SIGTERM. Resolves at once; use `exited` for the end. */
  terminate(): Promise<void>;
  /** SIGKILL, and waits for the end. */
  crash(): Promise<void>;
  /** Waits for the end of the process, at most `withinMs` (`ctx.timing.stopMs`). */
  exited(withinMs?: number): Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** Starts it again with the same configuration and data directory; new connections go to the new one. */
  start(): Promise<void>;
  /** As `start`, where the broker may refuse: tells why it did, undefined when it started. */
  startOrRefusal(): Promise<string | undefined>;
  /** Tries to start a second broker on the same data directory beside it, and ends that one: tells why it refused. */
  secondRefusal(): Promise<string | undefined>;
  /** Damages every file of the broker, which must not run. Could not run where it has none. */
  damageStore(): Promise<void>;
};

/** What the target was configured with, as far as it is known. Undefined = the broker's default, unknown to the runner. */
export type TargetFacts = {
  readonly name: string;
  readonly capabilities: ReadonlySet<Capability>;
  readonly configuration: ConfigurationRequest;
  /** The MaxMessageSize in force: declared, or the protocol's default of 1,048,576. */
  readonly maxMessageSizeBytes: number;
  /** The ack timeout in force: asked for, declared, or the default of 30,000. */
  readonly ackTimeoutMs: number;
  /** The retry delay in force, by the same rule; default 1,000. */
  readonly retryDelayMs: number;
  /** What a queue made on demand is like, where the check preferred it so and the broker took it over. */
  readonly queueDefaults: QueueDefaultSettings | undefined;
  /** The target declares that it counts connections by address: a check that could open many should open few. */
  readonly countsConnections: boolean;
  /** The smallest window of unacknowledged messages that may be relied on: 1 unless the target declares more. */
  readonly subscriberWindow: number;
};

/** What was done on all connections of the check since `recordHistory`. */
export type History = {
  readonly operations: readonly Operation[];
  /**
   * Lost, duplicated, unexpected and recovered messages, summed up. A finding fails the check, with the account and the operations of
   * the messages it is about. Counts as one assertion for each message. `ackTimeoutMs` is the target's unless given.
   */
  settle(rules: Partial<HistoryRules>): Account;
  /** As `settle`, for thousands of messages: other checks go on meanwhile. */
  settleInTurns(rules: Partial<HistoryRules>): Promise<Account>;
};

/** The trace of the check, for one that plays a scenario several times and wants to show only one of them. */
export type TraceShelf = {
  /** Takes everything that has come so far out of the trace. */
  take(): readonly TraceEvent[];
  /** Shows what was taken in the place of what has come since. */
  putBack(events: readonly TraceEvent[]): void;
};

export type CheckContext = {
  readonly seed: number;
  readonly random: Random;
  readonly timing: Timing;
  readonly target: TargetFacts;
  readonly assert: Assertions;
  /** The health server. An expectation failure in `get` when nothing answers. */
  readonly http: HttpSurface;
  /** The dashboard server. */
  readonly dashboard: HttpSurface;
  readonly broker: BrokerControl;
  readonly trace: TraceShelf;
  /** Begins to record; at most once in a check, and before the connections do what is to be judged. */
  recordHistory(): History;
  /** A connection with its handshake done. */
  connect(options?: ConnectOptions): Promise<Connection>;
  /** A TCP connection on which nothing has been sent. Always new. */
  rawConnect(): Promise<Connection>;
  /** A queue name that no other check, run or repetition uses: `x9k2.delivery-014a.orders`. */
  queue(name: string): string;
  /** A fresh id for a command or message. */
  id(prefix?: string): string;
  /** The connections of a recording of existing software, each a list of frames in order. Throws when there is none of that title. */
  recording(title: string): readonly (readonly GoldenFrame[])[];
  /** Milliseconds since the run's start on the monotonic clock; comparable with `ReceivedFrame.atMs`. */
  now(): number;
  /** Takes the first alternative that fits and returns its title; fails with the whole list when none does. */
  acceptable<T>(actual: T, alternatives: readonly Alternative<T>[], what: string): string;
  /** A recommendation was decided otherwise: the check ends with warn at best. */
  warn(clause: string, text: string, detail?: Detail): void;
  /** `warn` unless the condition holds. Counts as an assertion. */
  should(condition: boolean, clause: string, text: string, detail?: Detail): void;
  /**
   * Ends the check as not shown, which keeps the gate closed: what came decides nothing about the rule. Try another way to show it
   * first, and make sure that no broker that keeps the specification gets here.
   */
  notShown(reason: string): never;
  /** Ends the check as not applicable: the broker takes a choice that the specification permits, and the rule is about another one. */
  notApplicable(reason: string): never;
  /** Something worth knowing that changes nothing. */
  note(text: string): void;
};
