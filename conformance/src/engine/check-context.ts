// Creates the context of one run of a check: connections, names, assertions, and the record of its observations. Different checks share only
// the broker, and on an attached broker the clean connections.
import { assertionsFor, failureOf } from '../assertions.ts';
import type {
  Alternative,
  BrokerControl,
  Check,
  CheckContext,
  ConnectOptions,
  Detail,
  TargetFacts,
  TcpOptions,
} from '../check.ts';
import type { Connection } from '../connection.ts';
import { Evidence } from '../evidence.ts';
import { display, NothingShown, PrerequisiteMissing, RuleNotApplicable } from '../expectation.ts';
import { HistoryRecorder } from '../history/history-recorder.ts';
import { httpSurface } from '../http-surface.ts';
import type { Warning } from '../outcome.ts';
import { randomFor } from '../random.ts';
import type { GoldenFile } from '../suite-data.ts';
import type { Broker } from '../target/broker.ts';
import { damageFiles } from '../target/data-directory.ts';
import { TargetFault } from '../target/target-fault.ts';
import type { Endpoints } from '../target/target-file.ts';
import { testTrust } from '../target/test-certificates.ts';
import type { Timing } from '../timing.ts';
import { Trace } from '../trace.ts';
import type { WatchSetting } from '../watch/check-watch.ts';
import { CheckWatch } from '../watch/check-watch.ts';
import type { HttpExchange } from '../watch/watched-http.ts';
import type { BrokerConnection } from '../wire/broker-connection.ts';
import { CheckTraffic } from '../wire/check-traffic.ts';
import type { WireMode } from '../wire/chunking.ts';
import type { ConnectionSetting } from '../wire/link.ts';
import type { LoginTurns } from '../wire/login-turns.ts';
import { noteFrame, sendsSince } from './broker-activity.ts';
import { historyOf } from './check-history.ts';
import type { CheckConnections } from './connection-supply.ts';
import { ConnectionNotAccepted, openConnection } from './open-connection.ts';
import type { SpareConnections } from './spare-connections.ts';

export type ContextSetting = {
  readonly check: Check;
  readonly broker: Broker;
  readonly facts: TargetFacts;
  /** The seed of this repetition. */
  readonly seed: number;
  /** The prefix of all queue names and ids of this run of the check. */
  readonly names: string;
  readonly timing: Timing;
  readonly wireMode: WireMode;
  readonly connections: CheckConnections;
  /** One for all checks of a run. */
  readonly loginTurns: LoginTurns;
  readonly golden: readonly GoldenFile[];
  readonly now: () => number;
};

export class ContextRecord {
  readonly evidence: Evidence;
  readonly trace = new Trace();
  readonly history: HistoryRecorder;
  readonly traffic = new CheckTraffic();
  readonly watch: CheckWatch;
  readonly warnings: Warning[] = [];
  readonly notes: string[] = [];
  readonly connections: BrokerConnection[] = [];
  /** The connections that another check may use afterwards. */
  readonly shareable = new Set<BrokerConnection>();

  #connectionCount = 0;
  #hasEnded = false;

  /**
   * `now`: milliseconds since the start of the run. `clauses`: the requirements that the check is about. `watch`: what is known of the broker
   * that every frame is judged by.
   */
  constructor(now: () => number, clauses: readonly string[], watch: WatchSetting) {
    this.evidence = new Evidence(clauses);
    this.history = new HistoryRecorder(now);
    this.watch = new CheckWatch(now, watch);
  }

  /** A number from 0, different for each connection, also for those that are opened at the same time. */
  nextConnectionIndex(): number {
    this.#connectionCount += 1;
    return this.#connectionCount - 1;
  }

  /** Adds an open connection. After the end of the check it is destroyed immediately. */
  addConnection(connection: BrokerConnection): void {
    if (this.#hasEnded) connection.destroy();
    else this.connections.push(connection);
  }

  /** Passes the shareable connections that are open to `spares`, if given, and destroys the others. */
  closeConnections(spares?: SpareConnections): void {
    this.#hasEnded = true;
    for (const connection of this.connections) {
      if (spares !== undefined && this.shareable.has(connection) && !connection.isClosed)
        spares.giveBack(connection);
      else connection.destroy();
    }
  }
}

export function checkContext(setting: ContextSetting, record: ContextRecord): CheckContext {
  const { check, seed, timing, facts, now } = setting;
  const random = randomFor(seed, check.id);
  const names = namesWithPrefix(setting.names);
  const rawConnect = (options: TcpOptions = {}): Promise<BrokerConnection> =>
    open(setting, record, names.id, { kind: 'own', ...options });
  return {
    seed,
    random,
    timing,
    target: facts,
    now,
    assert: assertionsFor(record.evidence),
    http: surface(setting, record, 'health'),
    dashboard: surface(setting, record, 'dashboard'),
    broker: brokerControl(setting, record),
    trace: record.trace,
    recordHistory: () => historyOf(record, facts),
    rawConnect,
    tryConnect: (options) => rawConnect(options).catch(undefinedIfNotAccepted),
    connect: (options) => connectOrReuse(setting, record, names.id, options),
    queue: names.queue,
    recording: (title) => recordingOf(setting.golden, title),
    id: names.id,
    acceptable: (actual, alternatives, what) => acceptable(record, actual, alternatives, what),
    warn: (clause, text, detail) => addWarning(record, clause, text, detail),
    should: (condition, clause, text, detail) => {
      record.evidence.addAssertion(clause);
      if (!condition) addWarning(record, clause, text, detail);
    },
    notShown: (reason) => {
      throw new NothingShown(reason);
    },
    noteLateness: (reason) => record.evidence.addLateness(reason),
    notApplicable: (reason) => {
      throw new RuleNotApplicable(reason);
    },
    note: (text) => {
      record.notes.push(text);
    },
  };
}

function undefinedIfNotAccepted(error: unknown): undefined {
  if (!(error instanceof ConnectionNotAccepted)) throw error;
}

function recordingOf(golden: readonly GoldenFile[], title: string): GoldenFile['connections'] {
  const found = golden.find((file) => file.title === title);
  if (found === undefined) throw new Error(`there is no recording ${title}`);
  return found.connections;
}

/** Queue names and ids that no other check, run or repetition uses. */
function namesWithPrefix(prefix: string): { queue(name: string): string; id(prefix?: string): string } {
  let count = 0;
  return {
    queue: (name) => `${prefix}.${name}`,
    id: (kind = 'c') => {
      count += 1;
      return `${prefix}.${kind}-${count}`;
    },
  };
}

async function open(
  setting: ContextSetting,
  record: ContextRecord,
  nextId: () => string,
  { kind, plain, tlsVersion }: TcpOptions & { readonly kind: 'shared' | 'own' },
): Promise<BrokerConnection> {
  const connection = await openConnection(
    addressOf(setting, plain === true),
    connectionSetting(setting, record, nextId),
    setting.connections.pacer(kind),
    tlsVersion,
  );
  record.addConnection(connection);
  return connection;
}

/** `plain`: without TLS. A broker that was started with a test certificate gets connections with TLS, whatever its adapter answered. */
export function addressOf(
  { broker, facts }: Pick<ContextSetting, 'broker' | 'facts'>,
  plain: boolean,
): Endpoints['tcp'] {
  const { tls: declared, ...address } = broker.endpoints.tcp;
  const tls = facts.configuration.tls ? testTrust() : declared;
  return plain || tls === undefined ? address : { ...address, tls };
}

function connectionSetting(
  setting: ContextSetting,
  record: ContextRecord,
  nextId: () => string,
): ConnectionSetting {
  const index = record.nextConnectionIndex();
  const letter = String.fromCharCode(65 + (index % 26));
  const name = index < 26 ? letter : `${letter}${Math.floor(index / 26)}`;
  const { timing, now, wireMode: mode, check, seed } = setting;
  const random = randomFor(seed, `${check.id}:${name}`);
  const { maxMessageSizeBytes } = setting.facts;
  const { evidence, trace, history: observer, traffic, watch } = record;
  return {
    name,
    mode,
    random,
    timing,
    maxMessageSizeBytes,
    evidence,
    trace,
    observer,
    traffic,
    watch,
    now,
    onFrame: () => noteFrame(setting.broker, now()),
    nextId,
    credentials: setting.facts.credentials,
    loginTurns: setting.loginTurns,
  };
}

/** A connection after its handshake: a spare one if the options allow that and one is available, otherwise a new one. */
async function connectOrReuse(
  setting: ContextSetting,
  record: ContextRecord,
  nextId: () => string,
  options: ConnectOptions = {},
): Promise<Connection> {
  const mayShare = options.own !== true && options.headers === undefined;
  const spare = mayShare ? await setting.connections.take() : undefined;
  const connection = await (spare === undefined
    ? openWithHandshake(setting, record, nextId, options)
    : reuse(spare, connectionSetting(setting, record, nextId), record));
  if (mayShare) record.shareable.add(connection);
  return connection;
}

async function openWithHandshake(
  setting: ContextSetting,
  record: ContextRecord,
  nextId: () => string,
  { own, headers }: ConnectOptions,
): Promise<BrokerConnection> {
  const kind = own === true || headers !== undefined ? 'own' : 'shared';
  const startedAt = setting.now();
  const noteTime = (): void => noteSlowHandshake(setting, record.evidence, setting.now() - startedAt);
  try {
    const connection = await open(setting, record, nextId, { kind });
    await connection.handshake(headers);
    noteTime();
    return connection;
  } catch (error) {
    noteTime();
    await noteBusyBroker(setting, record.evidence, startedAt);
    throw error;
  }
}

/** On a machine that is too busy for the short timeouts of a check, the broker may close a connection before Connect has reached it. */
function noteSlowHandshake({ facts }: ContextSetting, evidence: Evidence, tookMs: number): void {
  const { handshakeTimeoutMs, frameTimeoutMs, idleTimeoutMs } = facts.configuration.timing ?? {};
  const timeouts = [handshakeTimeoutMs, frameTimeoutMs, idleTimeoutMs].filter((ms) => ms !== undefined);
  const shortestMs = Math.min(...timeouts);
  if (tookMs < shortestMs / 2) return;
  evidence.addLateness(
    `the handshake took ${Math.round(tookMs)} ms, more than half of the shortest timeout, ${shortestMs} ms`,
  );
}

/**
 * A broker that other checks keep busy, with thousands of messages, may be slow to accept a client. Alone the check shows whether it was that; a
 * broker that answers nobody, in twice the time that it has for an answer, is not busy, so that its checks need not be repeated.
 */
async function noteBusyBroker(
  { broker, timing, now }: ContextSetting,
  evidence: Evidence,
  startedAt: number,
): Promise<void> {
  const tookMs = now() - startedAt;
  if (tookMs < Math.min(timing.answerMs, timing.connectMs)) return;
  if (!(await sendsSince(broker, startedAt, timing.answerMs))) return;
  evidence.addLateness(
    `the handshake failed after ${Math.round(tookMs)} ms, and the broker sent frames then or soon afterwards`,
  );
}

function reuse(spare: BrokerConnection, setting: ConnectionSetting, record: ContextRecord): BrokerConnection {
  const connection = spare.transferTo(setting);
  record.addConnection(connection);
  return connection;
}

function surface(setting: ContextSetting, record: ContextRecord, kind: 'health' | 'dashboard') {
  const { timing, now } = setting;
  const { evidence, trace, watch } = record;
  const name = kind === 'health' ? 'the health server' : 'the dashboard';
  const baseUrl = (): string | undefined => withoutHealthPath(setting.broker.endpoints[kind]?.url, kind);
  const answered = (exchange: HttpExchange): void => watch.answered(kind, exchange);
  return httpSurface({ name, baseUrl, timing, evidence, trace, now, answered });
}

/** Removes the path `/health/` from a URL of the health server, because checks give the complete path. */
function withoutHealthPath(url: string | undefined, kind: 'health' | 'dashboard'): string | undefined {
  return kind === 'health' ? url?.replace(/\/health\/?$/, '') : url;
}

function brokerControl(
  { check, broker, timing }: ContextSetting,
  { history, watch }: ContextRecord,
): BrokerControl {
  const requireRestartIsolation = (): void => {
    if (check.isolation !== 'restart')
      throw new Error(`${check.id} stops its broker without isolation "restart"`);
  };
  const noteAll = (kind: 'crashed' | 'restarted'): void => {
    history.note(kind);
    watch.note(kind);
  };
  return {
    terminate: async () => {
      requireRestartIsolation();
      broker.terminate();
    },
    crash: async () => {
      requireRestartIsolation();
      await broker.crash();
      noteAll('crashed');
    },
    start: async () => {
      requireRestartIsolation();
      await broker.start().catch(throwStartFailure);
      noteAll('restarted');
    },
    startOrRefusal: () => {
      requireRestartIsolation();
      return refusalOf(() => broker.start());
    },
    startWithFileLimit: async (maxBytes) => {
      requireRestartIsolation();
      const { startWithFileLimit } = broker;
      if (startWithFileLimit === undefined || process.platform === 'win32') return false;
      const refusal = await refusalOf(() => startWithFileLimit.call(broker, maxBytes));
      if (refusal === undefined) noteAll('restarted');
      return refusal === undefined;
    },
    refuseWrites: async () => {
      requireRestartIsolation();
      const isRefused = (await broker.setFileWrites?.(false)) ?? false;
      if (isRefused) noteAll('crashed');
      return isRefused;
    },
    allowWrites: async () => {
      requireRestartIsolation();
      const isAllowed = await broker.setFileWrites?.(true);
      if (isAllowed !== true && broker.unwantedEnd === undefined)
        throw new Error('the broker may still not write to its files');
      noteAll('restarted');
    },
    secondRefusal: () => {
      requireRestartIsolation();
      return refusalOf(() => broker.startSecond());
    },
    otherRefusal: (configuration) => {
      requireRestartIsolation();
      const { startOther } = broker;
      if (startOther === undefined)
        throw new PrerequisiteMissing('the runner starts this broker with settings of the target file only');
      return refusalOf(() => startOther.call(broker, configuration));
    },
    renewCertificate: async (by) => {
      requireRestartIsolation();
      if (broker.renewCertificate === undefined || process.platform === 'win32')
        throw new PrerequisiteMissing('the runner cannot send SIGHUP to this broker');
      broker.renewCertificate(by);
    },
    damageStore: async () => {
      requireRestartIsolation();
      const { dataDirectory } = broker;
      const count = dataDirectory === undefined ? 0 : damageFiles(dataDirectory);
      if (count === 0) throw new PrerequisiteMissing('the broker has no files in its data directory');
    },
    exited: async (withinMs = timing.stopMs) => {
      requireRestartIsolation();
      const late = new Promise<undefined>((resolve) =>
        setTimeout(() => resolve(undefined), withinMs).unref(),
      );
      const exit = await Promise.race([broker.exit, late]);
      if (exit !== undefined) return exit;
      // What the broker would have done is not known.
      if (broker.stopFault !== undefined) throw broker.stopFault;
      throw failureOf('the broker ends', {
        expected: `the end of its process within ${withinMs} ms`,
        actual: 'it still runs',
      });
    },
  };
}

/** The faults that mean a refusal. A broker that does not answer in time, or with an invalid answer, has not refused. */
const refusals: readonly TargetFault['kind'][] = ['refused', 'ended', 'hook failed'];

/** Why the broker refused to start; undefined if it started. Throws the TargetFault if the start failed for another reason. */
async function refusalOf(start: () => Promise<void>): Promise<string | undefined> {
  try {
    await start();
    return undefined;
  } catch (error) {
    if (error instanceof TargetFault && refusals.includes(error.kind)) return error.message;
    throw error;
  }
}

/** The broker has started before with the same configuration, so a failed start is a failure of the broker. */
function throwStartFailure(error: unknown): never {
  if (!(error instanceof TargetFault)) throw error;
  throw failureOf('the broker starts again', {
    expected: 'a start like the first one',
    actual: error.message,
  });
}

function acceptable<T>(
  record: ContextRecord,
  actual: T,
  alternatives: readonly Alternative<T>[],
  what: string,
): string {
  record.evidence.addAssertion();
  const found = alternatives.find((alternative) => alternative.when(actual));
  if (found === undefined) {
    const expected = alternatives.map((alternative) => alternative.title).join('; or ');
    throw failureOf(what, { expected, actual });
  }
  if (found.difference !== undefined) {
    addWarning(record, found.difference.clause, found.difference.text, { actual: found.title });
  }
  return found.title;
}

function addWarning(record: ContextRecord, clause: string, text: string, detail: Detail = {}): void {
  record.warnings.push({
    clause,
    text,
    ...(detail.expected === undefined ? {} : { expected: display(detail.expected) }),
    ...(detail.actual === undefined ? {} : { actual: display(detail.actual) }),
  });
}
