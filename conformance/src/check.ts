// The types of a check and of its context. A check is a plain object: data that can be listed, selected and explained, and one function
// that talks to the broker. A check must not import anything from a broker, keep state between runs, or sleep. A wait for a frame has a
// deadline; the Pong to a later Ping proves that a frame was not sent. Only the engine decides which outcome the end of `run` means.
//
// How to write a check: if the broker behaves correctly, `run` returns; if not, `ctx.assert`, `ctx.acceptable` or a wait of a connection
// throws. For a recommendation inside a MUST check, use `ctx.warn` or `ctx.should`. A return is a pass only after an assertion about one
// of the check's own clauses; if nothing can be decided, call `ctx.notShown`. Never catch an ExpectationFailure. Take queue names from
// `ctx.queue`, ids from `ctx.id`, times from `ctx.timing`.
import type { Capability, Level, Profile } from './catalogue-words.ts';
import type { ConfigurationRequest, QueueDefaultSettings, TlsSettings } from './configuration.ts';
import type { Connection } from './connection.ts';
import type { Account } from './history/account.ts';
import type { HistoryRules, Operation } from './history/operation.ts';
import type { JsonText } from './json-value.ts';
import type { Random } from './random.ts';
import type { GoldenFrame } from './suite-data.ts';
import type { Timing } from './timing.ts';
import type { TraceEvent } from './trace.ts';
import type { Credentials } from './wire/credentials.ts';
import type { FrameFields } from './wire/frame.ts';

export type Isolation =
  /** Shares a broker with other checks that run at the same time. Default. */
  | 'shared'
  /** Gets a newly started broker for itself: for server-wide counters, limits, and actions that may harm other checks. */
  | 'fresh'
  /** As `fresh`; the check may also stop, crash and start the broker with `ctx.broker`. */
  | 'restart';

/** The minimum evidence for a pass. A check that returns with less is not shown. */
export type MinEvidence = {
  /** Frames received from the broker, including the handshake. */
  readonly frames?: number;
  /** Deliver frames among them. */
  readonly messages?: number;
  /** HTTP answers. */
  readonly responses?: number;
  /** Assertions made. At least one about the check's own clauses is always required. */
  readonly assertions?: number;
};

export type Check = {
  /** Requirement id and a letter: `FRAME-004a`. Never changes after publication. */
  readonly id: string;
  /** What the broker does if the check passes: `answers a Ping that arrives byte by byte`. */
  readonly title: string;
  /** Requirement ids. The first is the main one: the check has its level, unless `level` is lower. */
  readonly clauses: readonly [string, ...string[]];
  readonly level?: Level;
  readonly profile: Profile;
  readonly requires?: {
    readonly configuration?: ConfigurationRequest;
    readonly capabilities?: readonly Capability[];
    /** What it is about besides its own profile: not applicable to a broker that does not claim all of them. */
    readonly profiles?: readonly Profile[];
  };
  /**
   * Settings that a broker started for the run gets if possible, such as short timings. If they are not possible (an attached broker, an
   * adapter that does not support them) the check runs without them. `ctx.target` has the values in force.
   */
  readonly prefers?: ConfigurationRequest;
  /** Mostly waits, as for the broker's timers: runs in parallel with the other checks, on its own queues. */
  readonly waits?: true;
  readonly isolation?: Isolation;
  /** With isolation `fresh`: if the broker is attached, the check shares it. For checks whose rule holds beside others too. */
  readonly sharesAttached?: true;
  /**
   * Runs random scenarios and judges their whole history, so that almost any fault in its area makes it fail. The self-test runs it only
   * on the planted faults that name it.
   */
  readonly broad?: true;
  /** Sends thousands of messages, and may run for five minutes, whatever the timeout scale is. */
  readonly volume?: true;
  readonly evidence: MinEvidence;
  /** The acceptable outcomes in words, if there are several; `explain` and failures print them. */
  readonly accepts?: readonly string[];
  readonly run: (ctx: CheckContext) => Promise<void>;
};

export type CheckModule = readonly Check[];

export type ConnectOptions = {
  /** Headers of Connect, for example `supported-compression`. */
  readonly headers?: FrameFields['headers'];
  /**
   * Opens a connection that no other check uses, before or after. Without `own` the engine may provide a clean connection of an earlier
   * check. Set it if the check breaks the connection, judges its start, or counts connections. With `headers` the connection is always
   * new.
   */
  readonly own?: boolean;
};

export type TlsVersion = 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3';

export type TcpOptions = {
  /** Connects without TLS, also where TLS is configured. */
  readonly plain?: true;
  /** Offers only this version of TLS. */
  readonly tlsVersion?: TlsVersion;
};

export type Detail = {
  readonly expected?: unknown;
  readonly actual?: unknown;
  readonly clause?: string;
  /** Other requirements that would explain a failure here. If a check about one of them shows it broken, this check is blocked. */
  readonly possibleCauses?: readonly string[];
};

/**
 * Each call counts as one assertion about the requirement `clause`, by default the check's main one. A failed assertion ends the check. If it
 * names a MUST, the run fails, whatever the level of the check. `what` is the rule in words.
 */
export type Assertions = {
  equal(actual: unknown, expected: unknown, what: string, clause?: string): void;
  notEqual(actual: unknown, unexpected: unknown, what: string, clause?: string): void;
  /** The same JSON value, however it is written (`isSameJson`); undefined equals no value. For payloads that the broker delivers. */
  sameJson(actual: JsonText | undefined, expected: JsonText, what: string, clause?: string): void;
  /** Structural equality, with object keys in any order. */
  deepEqual(actual: unknown, expected: unknown, what: string, clause?: string): void;
  oneOf(actual: unknown, expected: readonly unknown[], what: string, clause?: string): void;
  /** A number from `low` to `high`, both included. */
  between(actual: unknown, low: number, high: number, what: string, clause?: string): void;
  /** As `between`, for a time in milliseconds; the failure shows the unit. */
  betweenMs(actualMs: number, lowMs: number, highMs: number, what: string, clause?: string): void;
  matches(actual: unknown, pattern: RegExp, what: string, clause?: string): void;
  /** `actual`: what came, for the report. */
  ok(condition: boolean, what: string, detail: Detail & { readonly actual: unknown }): void;
  /** Ends the check with a failure. */
  fail(what: string, detail?: Detail): never;
};

/** One outcome that the specification allows. With `difference` it is a warning, because the outcome does not follow a SHOULD. */
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
  /** The parsed body. Throws an ExpectationFailure if it is not JSON. */
  json(): unknown;
};

export type HttpRequest = {
  readonly method?: string;
  /** Sends the path as it is, also where a URL has another one for it. */
  readonly asIs?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  readonly withinMs?: number;
};

export type HttpSurface = {
  get(path: string, options?: HttpRequest): Promise<HttpAnswer>;
  request(path: string, options: HttpRequest): Promise<HttpAnswer>;
};

/** Controls the broker process, for checks with isolation `restart`. In other checks each call throws an error. */
export type BrokerControl = {
  /** Sends SIGTERM and does not wait; `exited` waits for the end. */
  terminate(): Promise<void>;
  /** Sends SIGKILL and waits for the end. */
  crash(): Promise<void>;
  /** Waits for the end of the process, at most `withinMs` (default `ctx.timing.stopMs`). */
  exited(withinMs?: number): Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** Starts the broker again with the same configuration and data directory. New connections go to the new process. */
  start(): Promise<void>;
  /** As `start`, if the broker may refuse to start: returns the reason, or undefined if it started. */
  startOrRefusal(): Promise<string | undefined>;
  /**
   * As `start`, but no file of the broker can become larger than `maxBytes`, as on a full disk. False if it did not start: it refused, or
   * the runner does not start its process.
   */
  startWithFileLimit(maxBytes: number): Promise<boolean>;
  /**
   * Lets all writes of the broker to its files fail from now on, as a broken disk does. Start it with `startWithFileLimit` before: otherwise the
   * system may end it at the first write. False if the runner or the system cannot.
   */
  refuseWrites(): Promise<boolean>;
  /** Ends what `refuseWrites` began. */
  allowWrites(): Promise<void>;
  /** Tries to start a second broker with the same data directory, and ends it if it starts. Returns why it refused, or undefined. */
  secondRefusal(): Promise<string | undefined>;
  /**
   * Tries to start a broker with another configuration and its own data directory, and ends it if it starts. Returns why it refused, or
   * undefined.
   */
  otherRefusal(configuration: ConfigurationRequest): Promise<string | undefined>;
  /**
   * Replaces the certificate and the key of the broker by those of the other test certificates that `by` names, and sends SIGHUP to it. If
   * the runner cannot, the check could not run.
   */
  renewCertificate(by: TlsSettings): Promise<void>;
  /** Damages all files of the broker, which must not be running. If there are none, the check could not run. */
  damageStore(): Promise<void>;
};

/** The configuration of the target, as far as the runner knows it. Undefined means the broker's default, which the runner does not know. */
export type TargetFacts = {
  readonly name: string;
  readonly capabilities: ReadonlySet<Capability>;
  readonly configuration: ConfigurationRequest;
  /** The MaxMessageSize in force: the declared value, or the protocol's default of 1,048,576. */
  readonly maxMessageSizeBytes: number;
  /** The ack timeout in force: the requested or declared value, or the default of 30,000. */
  readonly ackTimeoutMs: number;
  /** The retry delay in force: the requested or declared value, or the default of 1,000. */
  readonly retryDelayMs: number;
  /** The maximum of the retry delay in force: the requested or declared value, or the default of 120,000. */
  readonly maxRetryDelayMs: number;
  /** The time for a whole frame in force: the requested or declared value, or the default of 30,000. */
  readonly frameTimeoutMs: number;
  /** The shutdown timeout in force: the requested or declared value, or the default of 30,000. */
  readonly shutdownTimeoutMs: number;
  /** The options of auto-created queues, if the check prefers some and the broker supports them. */
  readonly queueDefaults: QueueDefaultSettings | undefined;
  /** The target declares a limit of connections per address: a check should open few connections. */
  readonly countsConnections: boolean;
  /** The publishes of one connection that the broker takes in a second; undefined: no limit is known. */
  readonly publishesPerSecond: number | undefined;
  /** The window of unacknowledged messages that a check may rely on: 1 unless the target declares more. */
  readonly subscriberWindow: number;
  /** What the user gave for an attached broker; each Connect without credentials gets them. */
  readonly credentials: Credentials;
};

/** The operations on all connections of the check since `recordHistory`. */
export type History = {
  readonly operations: readonly Operation[];
  /**
   * Counts lost, duplicated, unexpected and recovered messages. A finding fails the check; the failure contains the counts and the
   * operations of the affected messages. Counts as one assertion for each message. `ackTimeoutMs` is the target's unless given.
   */
  judge(rules: Partial<HistoryRules>): Account;
  /** As `judge`, for thousands of messages: works in steps, so that other checks can continue. */
  judgeInSteps(rules: Partial<HistoryRules>): Promise<Account>;
};

/** Access to the trace, for a check that runs several scenarios and shows only the events of one. */
export type TraceControl = {
  /** Removes all events from the trace and returns them. */
  takeAll(): readonly TraceEvent[];
  /** Replaces all events of the trace by these, which `takeAll` returned. */
  replaceAll(events: readonly TraceEvent[]): void;
};

export type CheckContext = {
  readonly seed: number;
  readonly random: Random;
  readonly timing: Timing;
  readonly target: TargetFacts;
  readonly assert: Assertions;
  /** The health server. A request without an answer throws an ExpectationFailure. */
  readonly http: HttpSurface;
  /** The dashboard server. */
  readonly dashboard: HttpSurface;
  readonly broker: BrokerControl;
  readonly trace: TraceControl;
  /** Starts recording. Call it at most once in a check, before the operations that are judged. */
  recordHistory(): History;
  /** A connection after its handshake. */
  connect(options?: ConnectOptions): Promise<Connection>;
  /** A connection on which no frame has been sent, with TLS where TLS is configured. Always new. */
  rawConnect(options?: TcpOptions): Promise<Connection>;
  /** As `rawConnect`, if the broker may refuse the connection or the TLS handshake: undefined if it does. */
  tryConnect(options?: TcpOptions): Promise<Connection | undefined>;
  /** A queue name that no other check, run or repetition uses, for example `7-k3x0a.delivery-014a.orders`. */
  queue(name: string): string;
  /** A new id for a command or message. */
  id(prefix?: string): string;
  /** The connections of a recording of existing software, each a list of frames in order. Throws if no recording has this title. */
  recording(title: string): readonly (readonly GoldenFrame[])[];
  /** Milliseconds since the start of the run, on the monotonic clock; comparable with `ReceivedFrame.atMs`. */
  now(): number;
  /** Returns the title of the first alternative that matches; fails with the whole list if none does. */
  acceptable<T>(actual: T, alternatives: readonly Alternative<T>[], what: string): string;
  /** The broker does not follow a recommendation: a check that does not fail ends with warn. */
  warn(clause: string, text: string, detail?: Detail): void;
  /** Calls `warn` unless the condition holds. Counts as an assertion. */
  should(condition: boolean, clause: string, text: string, detail?: Detail): void;
  /**
   * Ends the check as not shown, which closes the gate: the observations do not decide the rule. Try other ways to decide it first, and
   * make sure that a correct broker never gets here.
   */
  notShown(reason: string): never;
  /**
   * Says that the machine was too busy for what the check measured. The check is played again while no other check runs; then it is judged
   * whatever the machine does.
   */
  noteLateness(reason: string): void;
  /** Ends the check as not applicable: the broker made a permitted choice to which the rule does not apply. */
  notApplicable(reason: string): never;
  /** Adds information to the report without changing the outcome. */
  note(text: string): void;
};
