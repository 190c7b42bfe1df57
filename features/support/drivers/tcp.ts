// Scenarios over TCP: the built command is started, once for each set of settings, and scenarios that want the same share
// it under queue names of their own. Durations are a tenth of what the scenario says. Time is waited for only where a
// scenario goes on to act or to look for something that must not have come; what must come is waited for itself.

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request as httpRequest, type RequestOptions } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Client } from '../client.ts';
import { BrokerProcess } from './broker-process.ts';
import type { BrokerState, BrokerUnderTest, Driver, HttpAnswer, HttpRequest, Settings } from './driver.ts';

/** One millisecond of a scenario, in real ones. */
const SCALE = 0.1;

/** How long something that must come may take beyond its time, in real milliseconds. */
const PATIENCE_MS = 5_000;

/** A timer may be seen to fire this much early or late, in real milliseconds. */
const EARLY_MS = 10;
const LATE_MS = 1_000;

export function tcpDriver(): Driver {
  const shared = new Map<string, Promise<BrokerProcess>>();
  const started: BrokerProcess[] = [];
  const folders: string[] = [];
  let scenarioCount = 0;
  const makeFolder = () => {
    const folder = mkdtempSync(join(tmpdir(), 'truemq-features-'));
    folders.push(folder);
    return folder;
  };
  const killAll = () => {
    for (const process of started) process.kill();
  };
  process.once('exit', killAll);
  return {
    async start(settings) {
      scenarioCount += 1;
      // A broker with a store is the scenario's own: it may be ended, and started again over the same file.
      const folder = settings.get('storage') === 'sqlite' ? makeFolder() : undefined;
      const flags = [...flagsOf(settings), ...storeFlags(folder)];
      const launch = async () => {
        const broker = await BrokerProcess.start(flags);
        started.push(broker);
        return broker;
      };
      const key = JSON.stringify(flags);
      const starting = shared.get(key) ?? launch();
      shared.set(key, starting);
      return new TcpBroker(await starting, {
        queuePrefix: `s${scenarioCount}-`,
        forget: () => void shared.delete(key),
        launch,
      });
    },
    async close() {
      killAll();
      await Promise.all(started.map((broker) => broker.exited));
      for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    },
  };
}

function flagsOf(settings: Settings): readonly (readonly [string, string])[] {
  return [...settings]
    .map(
      ([key, setting]) =>
        [key, typeof setting === 'string' ? setting : durationText(setting.durationMs)] as const,
    )
    .sort(([one], [other]) => (one < other ? -1 : 1));
}

function storeFlags(folder: string | undefined): readonly (readonly [string, string])[] {
  return folder === undefined ? [] : [['storagePath', join(folder, 'truemq.db')]];
}

function durationText(durationMs: number): string {
  return `${Math.round(durationMs * SCALE)}ms`;
}

type TcpOptions = {
  readonly queuePrefix: string;
  /** No other scenario may use it. */
  readonly forget: () => void;
  /** Starts another process with the same settings. */
  readonly launch: () => Promise<BrokerProcess>;
};

class TcpBroker implements BrokerUnderTest {
  readonly queuePrefix: string;
  readonly tolerance = { earlyMs: EARLY_MS / SCALE, lateMs: LATE_MS / SCALE };
  readonly #options: TcpOptions;
  #process: BrokerProcess;
  /** What the processes before this one have logged. */
  #earlierLog = '';
  /** Up to here time has passed for the scenario, in real milliseconds; the clock may still have to catch up. */
  #passedUntil = 0;
  #changed: (() => void) | undefined;

  constructor(process: BrokerProcess, options: TcpOptions) {
    this.#process = process;
    this.queuePrefix = options.queuePrefix;
    this.#options = options;
  }

  readonly notify = (): void => this.#changed?.();

  now(): number {
    return performance.now() / SCALE;
  }

  wallNow(): number {
    return Date.now();
  }

  scaled(durationMs: number): number {
    return durationMs * SCALE;
  }

  async open(): Promise<Duplex> {
    await this.#catchUp();
    const socket = connect({ ...this.#process.tcp, noDelay: true });
    await once(socket, 'connect', { signal: AbortSignal.timeout(PATIENCE_MS) });
    return socket;
  }

  get address(): { readonly host: string; readonly port: number } {
    return this.#process.tcp;
  }

  hangUp(): void {
    this.#process.hangUp();
  }

  async request(path: string, init: HttpRequest = {}): Promise<HttpAnswer> {
    await this.#catchUp();
    const { healthUrl, dashboardUrl } = this.#process;
    const url = new URL(path, path.startsWith('/api/') ? dashboardUrl : healthUrl);
    return exchange(url.href, { ...init, signal: AbortSignal.timeout(PATIENCE_MS) });
  }

  /**
   * A Pong tells that everything its connection sent before has taken effect. After a second one from everybody, all that
   * came of it has arrived: it was sent before those.
   */
  async settle(clients: Iterable<Client>): Promise<void> {
    await this.#catchUp();
    for (let round = 0; round < 2; round += 1) {
      const trips = [...clients].map((client) => client.roundTrip());
      const isDone = await this.until(() => trips.every((trip) => trip.isOver()) || undefined);
      if (isDone !== true) throw new Error(`A client got no Pong within ${PATIENCE_MS} ms.\n${this.log()}`);
    }
  }

  async pass(durationMs: number): Promise<void> {
    this.#passedUntil = Math.max(this.#passedUntil, performance.now()) + durationMs * SCALE;
  }

  async until<Found>(find: () => Found | undefined): Promise<Found | undefined> {
    const deadline = Math.max(this.#passedUntil, performance.now()) + PATIENCE_MS;
    for (;;) {
      const found = find();
      if (found !== undefined || performance.now() >= deadline) return found;
      await this.#nextChange(deadline);
    }
  }

  stop(): void {
    this.#options.forget();
    this.#process.stop(() => this.notify());
  }

  state(): BrokerState {
    return this.#process.state;
  }

  async crash(): Promise<void> {
    this.#options.forget();
    this.#process.kill();
    await this.#process.exited;
  }

  async startAgain(): Promise<void> {
    await this.#catchUp();
    this.#earlierLog = this.log();
    this.#process = await this.#options.launch();
  }

  /** The system lets the process write no file beyond its first byte. Linux alone has a command for that. */
  async fillDisk(isFull: boolean): Promise<void> {
    const limit = isFull ? '--fsize=0:unlimited' : '--fsize=unlimited:unlimited';
    execFileSync('prlimit', ['--pid', String(this.#process.processId), limit]);
  }

  release(): void {
    if (this.#process.state === 'failed') this.#options.forget();
  }

  log(): string {
    return `${this.#earlierLog}${this.#process.log}`;
  }

  /** Waits for what has passed for the scenario to pass for the broker too. */
  async #catchUp(): Promise<void> {
    while (performance.now() < this.#passedUntil) await this.#nextChange(this.#passedUntil);
  }

  /** Resolves when something has come, or at the deadline. */
  #nextChange(deadline: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.notify(), Math.max(0, Math.ceil(deadline - performance.now())));
      this.#changed = () => {
        clearTimeout(timer);
        this.#changed = undefined;
        resolve();
      };
    });
  }
}

/** Node's own client: fetch would not send a Host header of ours. */
function exchange(url: string, options: RequestOptions): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { ...options, agent: false }, (response) => {
      text(response).then((body) => {
        const headers = new Map(
          Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
        );
        resolve({ status: response.statusCode ?? 0, headers, text: body });
      }, reject);
    });
    request.on('error', reject).end();
  });
}
