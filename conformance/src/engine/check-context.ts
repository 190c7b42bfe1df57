// Makes what one check is given: its connections, names, assertions and the record of what it saw. One context belongs to one run
// of one check and is thrown away afterwards; nothing in it is shared with another check but the broker itself, and on an attached
// broker the connections that a check left clean.
import { assertionsFor, failureOf } from '../assertions.ts';
import type {
  Alternative,
  BrokerControl,
  Check,
  CheckContext,
  ConnectOptions,
  Detail,
  TargetFacts,
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
import type { Timing } from '../timing.ts';
import { Trace } from '../trace.ts';
import type { BrokerConnection } from '../wire/broker-connection.ts';
import type { WireMode } from '../wire/chunking.ts';
import type { ConnectionSetting } from '../wire/link.ts';
import { Reliance } from '../wire/reliance.ts';
import { historyOf } from './check-history.ts';
import type { CheckConnections } from './connection-supply.ts';
import { openConnection } from './opening.ts';
import type { SpareConnections } from './spare-connections.ts';

export type ContextSetting = {
  readonly check: Check;
  readonly broker: Broker;
  readonly facts: TargetFacts;
  /** The seed of this repetition. */
  readonly seed: number;
  /** The beginning of every queue name and id of this run of the check. */
  readonly names: string;
  readonly timing: Timing;
  readonly wireMode: WireMode;
  readonly connections: CheckConnections;
  readonly golden: readonly GoldenFile[];
  readonly now: () => number;
};

export class ContextRecord {
  readonly evidence: Evidence;
  readonly trace = new Trace();
  readonly history: HistoryRecorder;
  readonly reliance = new Reliance();
  readonly warnings: Warning[] = [];
  readonly notes: string[] = [];
  readonly connections: BrokerConnection[] = [];
  /** Those among them that another check may use afterwards. */
  readonly shareable = new Set<BrokerConnection>();

  #connectionCount = 0;
  #hasEnded = false;

  /** `now`: milliseconds since the run's start. `clauses`: the requirements that the check stands on. */
  constructor(now: () => number, clauses: readonly string[]) {
    this.evidence = new Evidence(clauses);
    this.history = new HistoryRecorder(now);
  }

  /** From 0. Connections that are opened at the same time get one each. */
  nextConnectionIndex(): number {
    this.#connectionCount += 1;
    return this.#connectionCount - 1;
  }

  /** A connection that is opened after the check has ended is ended at once. */
  addConnection(connection: BrokerConnection): void {
    if (this.#hasEnded) connection.destroy();
    else this.connections.push(connection);
  }

  /** Ends every connection that the check left open, but those that go to `spares`. */
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
  const names = namesUnder(setting.names);
  const rawConnect = (): Promise<BrokerConnection> => open(setting, record, names.id, 'own');
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
    connect: (options) => connectAndShake(setting, record, names.id, options),
    queue: names.queue,
    recording: (title) => recordingOf(setting.golden, title),
    id: names.id,
    acceptable: (actual, alternatives, what) => acceptable(record, actual, alternatives, what),
    warn: (clause, text, detail) => addWarning(record, clause, text, detail),
    should: (condition, clause, text, detail) => {
      record.evidence.assertion(clause);
      if (!condition) addWarning(record, clause, text, detail);
    },
    notShown: (reason) => {
      throw new NothingShown(reason);
    },
    notApplicable: (reason) => {
      throw new RuleNotApplicable(reason);
    },
    note: (text) => {
      record.notes.push(text);
    },
  };
}

function recordingOf(golden: readonly GoldenFile[], title: string): GoldenFile['connections'] {
  const found = golden.find((file) => file.title === title);
  if (found === undefined) throw new Error(`there is no recording ${title}`);
  return found.connections;
}

/** Queue names and ids that no other check, run or repetition uses. */
function namesUnder(own: string): { queue(name: string): string; id(prefix?: string): string } {
  let count = 0;
  return {
    queue: (name) => `${own}.${name}`,
    id: (prefix = 'c') => {
      count += 1;
      return `${own}.${prefix}-${count}`;
    },
  };
}

async function open(
  setting: ContextSetting,
  record: ContextRecord,
  nextId: () => string,
  kind: 'shared' | 'own',
): Promise<BrokerConnection> {
  const connection = await openConnection(
    setting.broker.endpoints.tcp,
    connectionSetting(setting, record, nextId),
    setting.connections.pacer(kind),
  );
  record.addConnection(connection);
  return connection;
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
  const { evidence, trace, history: observer, reliance } = record;
  return {
    name,
    mode,
    random,
    timing,
    maxMessageSizeBytes,
    evidence,
    trace,
    observer,
    reliance,
    now,
    nextId,
  };
}

async function connectAndShake(
  setting: ContextSetting,
  record: ContextRecord,
  nextId: () => string,
  options: ConnectOptions = {},
): Promise<Connection> {
  const mayShare = options.own !== true && options.headers === undefined;
  const spare = mayShare ? await setting.connections.take() : undefined;
  const connection = await (spare === undefined
    ? shaken(setting, record, nextId, options)
    : borrowed(spare, connectionSetting(setting, record, nextId), record));
  if (mayShare) record.shareable.add(connection);
  return connection;
}

async function shaken(
  setting: ContextSetting,
  record: ContextRecord,
  nextId: () => string,
  { own, headers }: ConnectOptions,
): Promise<BrokerConnection> {
  const kind = own === true || headers !== undefined ? 'own' : 'shared';
  const connection = await open(setting, record, nextId, kind);
  await connection.handshake(headers);
  return connection;
}

function borrowed(
  spare: BrokerConnection,
  setting: ConnectionSetting,
  record: ContextRecord,
): BrokerConnection {
  const connection = spare.lend(setting);
  record.addConnection(connection);
  return connection;
}

function surface(setting: ContextSetting, record: ContextRecord, kind: 'health' | 'dashboard') {
  const { timing, now } = setting;
  const { evidence, trace } = record;
  const name = kind === 'health' ? 'the health server' : 'the dashboard';
  const baseUrl = (): string | undefined => withoutPath(setting.broker.endpoints[kind]?.url, kind);
  return httpSurface({ name, baseUrl, timing, evidence, trace, now });
}

/** `http://host:port/health/` means the same server as `http://host:port`: checks name the whole path themselves. */
function withoutPath(url: string | undefined, kind: 'health' | 'dashboard'): string | undefined {
  return kind === 'health' ? url?.replace(/\/health\/?$/, '') : url;
}

function brokerControl({ check, broker, timing }: ContextSetting, { history }: ContextRecord): BrokerControl {
  const mayStop = (): void => {
    if (check.isolation !== 'restart')
      throw new Error(`${check.id} stops its broker without isolation "restart"`);
  };
  return {
    terminate: async () => {
      mayStop();
      broker.terminate();
    },
    crash: async () => {
      mayStop();
      await broker.crash();
      history.note('crashed');
    },
    start: async () => {
      mayStop();
      await broker.start().catch(refusedToStart);
      history.note('restarted');
    },
    startOrRefusal: () => {
      mayStop();
      return refusalOf(() => broker.start());
    },
    secondRefusal: () => {
      mayStop();
      return refusalOf(() => broker.startSecond());
    },
    damageStore: async () => {
      mayStop();
      const { dataDirectory } = broker;
      const count = dataDirectory === undefined ? 0 : damageFiles(dataDirectory);
      if (count === 0) throw new PrerequisiteMissing('the broker has no files in its data directory');
    },
    exited: async (withinMs = timing.stopMs) => {
      mayStop();
      const late = new Promise<undefined>((resolve) =>
        setTimeout(() => resolve(undefined), withinMs).unref(),
      );
      const exit = await Promise.race([broker.exit, late]);
      if (exit !== undefined) return exit;
      throw failureOf('the broker ends', {
        expected: `the end of its process within ${withinMs} ms`,
        actual: 'it runs',
      });
    },
  };
}

/** How a broker says no. One that does not answer in time, or not in the adapter's words, has refused nothing. */
const refusals: readonly TargetFault['kind'][] = ['refused', 'ended', 'hook failed'];

/** Why the broker refused to start; undefined when it did not. Throws the TargetFault of any other failure. */
async function refusalOf(start: () => Promise<void>): Promise<string | undefined> {
  try {
    await start();
    return undefined;
  } catch (error) {
    if (error instanceof TargetFault && refusals.includes(error.kind)) return error.message;
    throw error;
  }
}

/** It has started before with the same configuration: that it does not now is the broker's doing. */
function refusedToStart(error: unknown): never {
  if (!(error instanceof TargetFault)) throw error;
  throw failureOf('the broker starts again', {
    expected: 'the same start as the first one',
    actual: error.message,
  });
}

function acceptable<T>(
  record: ContextRecord,
  actual: T,
  alternatives: readonly Alternative<T>[],
  what: string,
): string {
  record.evidence.assertion();
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
