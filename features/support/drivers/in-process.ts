// Scenarios in this process: a broker with a memory store or over a virtual disk, connected through virtual lines, in virtual
// time. Every scenario has a fresh broker, durations are exact, and nothing ever waits for real time.

import { totalmem } from 'node:os';
import type { Duplex } from 'node:stream';
import type { Backend } from '../../../src/backend/backend.ts';
import type { StoreRecord } from '../../../src/broker/interface/store-record.ts';
import { allInPlace, ZlibCompressor } from '../../../src/compression/zlib-compressor.ts';
import type { Configuration } from '../../../src/config/configuration.ts';
import { flagName } from '../../../src/config/keys.ts';
import { loadConfiguration } from '../../../src/config/load.ts';
import type { Gateway } from '../../../src/gateway/gateway.ts';
import { heapLimitBytes } from '../../../src/gateway/heap-limit.ts';
import { createDashboardApp } from '../../../src/http/dashboard/dashboard-app.ts';
import { createHealthApp } from '../../../src/http/health/health-app.ts';
import { processMemorySampler } from '../../../src/http/health/memory.ts';
import type { Environment } from '../../../src/model/environment.ts';
import type { Logger } from '../../../src/model/logger.ts';
import { openMemoryStore } from '../../../src/storage/memory/memory-store.ts';
import type { StorageProvider } from '../../../src/storage/storage-provider.ts';
import { brokerOptions, composeBroker } from '../../../src/testing/composed-broker.ts';
import {
  type TestedAuthentication,
  testedAuthentication,
} from '../../../src/testing/tested-authentication.ts';
import { VirtualDisk } from '../../../src/testing/virtual-disk.ts';
import { VirtualEnvironment } from '../../../src/testing/virtual-environment.ts';
import { openVirtualConnection } from '../../../src/testing/virtual-network.ts';
import type { BrokerState, BrokerUnderTest, Driver, HttpAnswer, HttpRequest, Settings } from './driver.ts';

/** What a driver that runs the broker in this process may do in its own way. */
export type InProcessProfile = {
  readonly tolerance: BrokerUnderTest['tolerance'];
  /** See {@link BrokerParts.between}. */
  readonly between?: (local: Backend, environment: Environment) => Backend;
  /** Resolves when nothing happens any more that does not wait for its time. */
  readonly settle: (environment: VirtualEnvironment) => Promise<void>;
};

const exact: InProcessProfile = {
  tolerance: { earlyMs: 0, lateMs: 0 },
  settle: (environment) => environment.settle(),
};

type HttpServers = {
  readonly health: ReturnType<typeof createHealthApp>;
  readonly dashboard: ReturnType<typeof createDashboardApp>;
};

/** Scenarios ask; they do not watch. */
const noStreams = { open: () => new Response(null, { status: 503 }) };

/** `newProfile` is called for each broker. */
export function inProcessDriver(newProfile: () => InProcessProfile = () => exact): Driver {
  return {
    async start(settings) {
      const broker = new InProcessBroker(settings, newProfile());
      await broker.start();
      return broker;
    },
    close: async () => undefined,
  };
}

class InProcessBroker implements BrokerUnderTest {
  readonly queuePrefix = '';
  readonly address = undefined;
  readonly tolerance: BrokerUnderTest['tolerance'];
  readonly notify = (): void => undefined;
  readonly #environment = new VirtualEnvironment();
  readonly #lines: string[] = [];
  readonly #profile: InProcessProfile;
  readonly #configuration: Configuration;
  readonly #disk = new MortalDisk();
  #broker: Gateway;
  #http: HttpServers;
  /** The broker's ends of its lines. */
  #sockets: Duplex[] = [];
  #state: BrokerState = 'running';

  constructor(settings: Settings, profile: InProcessProfile) {
    this.#profile = profile;
    this.tolerance = profile.tolerance;
    const flags = new Map([...settings].map(([key, setting]) => [flagName(key), textOf(setting)]));
    const machine = { memoryBytes: totalmem(), heapLimitBytes: totalmem(), isTerminal: false };
    this.#configuration = loadConfiguration({ flags, environment: {}, machine }).configuration;
    this.#broker = this.#createBroker();
    this.#http = this.#createHttp();
  }

  async start(): Promise<void> {
    const started = this.#broker.start();
    await this.settle();
    await started;
  }

  now(): number {
    return this.#environment.clock.now();
  }

  wallNow(): number {
    return this.#environment.clock.wallNow();
  }

  scaled(durationMs: number): number {
    return durationMs;
  }

  async open(): Promise<Duplex> {
    const { client, server } = openVirtualConnection(this.#environment.scheduler);
    this.#sockets.push(server);
    this.#broker.attach(server, '127.0.0.1');
    return client;
  }

  hangUp(): void {
    throw new Error('This broker has no process.');
  }

  async request(path: string, request: HttpRequest = {}): Promise<HttpAnswer> {
    await this.settle();
    const { health, dashboard } = this.#http;
    const app = path.startsWith('/api/') ? dashboard : health;
    const response = await this.#answered(Promise.resolve(app.request(path, { ...request })));
    return { status: response.status, headers: new Map(response.headers), text: await response.text() };
  }

  /** Lets the broker work until it has answered. */
  async #answered<Answer>(answer: Promise<Answer>): Promise<Answer> {
    let isOpen = true;
    const end = (): void => {
      isOpen = false;
    };
    answer.then(end, end);
    while (isOpen) await this.settle();
    return answer;
  }

  settle(): Promise<void> {
    return this.#profile.settle(this.#environment);
  }

  pass(durationMs: number): Promise<void> {
    return this.#environment.advance(durationMs);
  }

  async until<Found>(find: () => Found | undefined): Promise<Found | undefined> {
    await this.settle();
    return find();
  }

  stop(): void {
    this.#broker.drain().then(
      () => {
        this.#state = 'ended';
      },
      (error: unknown) => this.#fail(error),
    );
  }

  state(): BrokerState {
    return this.#state;
  }

  async crash(): Promise<void> {
    this.#disk.loseBroker();
    this.#state = 'failed';
    for (const socket of this.#sockets) socket.destroy();
    await this.settle();
  }

  async startAgain(): Promise<void> {
    this.#sockets = [];
    this.#broker = this.#createBroker();
    this.#http = this.#createHttp();
    await this.start();
    this.#state = 'running';
  }

  async fillDisk(isFull: boolean): Promise<void> {
    this.#disk.isFull = isFull;
  }

  release(): void {
    // Nothing outlives the scenario: the environment's timers run only when somebody lets time pass.
  }

  log(): string {
    return this.#lines.join('\n');
  }

  #createBroker(): Gateway {
    const isDurable = this.#configuration.storage !== 'memory';
    const { between } = this.#profile;
    const logger = loggerInto(this.#lines);
    const { enableAuthentication } = this.#configuration;
    return composeBroker(brokerOptions(this.#configuration), {
      environment: this.#environment,
      openStore: isDurable ? this.#disk.openStore : async () => openMemoryStore(),
      // In place always: a thread pool would make the order of events depend on the machine.
      compressor: new ZlibCompressor(allInPlace),
      logger,
      ...(enableAuthentication && this.#authentication(logger)),
      ...(between && { between: (local: Backend) => between(local, this.#environment) }),
    });
  }

  #authentication(logger: Logger): TestedAuthentication {
    const { authToken, authDatabasePath, superuserUsername, superuserPassword } = this.#configuration;
    const hasUsers = authDatabasePath !== '';
    return testedAuthentication(
      {
        ...(authToken === '' ? {} : { token: authToken }),
        ...(hasUsers ? { superuser: { username: superuserUsername, password: superuserPassword } } : {}),
      },
      { logger, clock: this.#environment.clock },
    );
  }

  #createHttp(): HttpServers {
    const { clock } = this.#environment;
    const { memoryLimitBytes, allowedHosts, pathPrefix } = this.#configuration;
    const { operator } = this.#broker;
    const options = {
      view: this.#broker,
      operator,
      sampleMemory: processMemorySampler(memoryLimitBytes, heapLimitBytes),
      wallNow: clock.wallNow,
      uptimeMs: clock.now,
      allowedHosts,
      onFault: (error: unknown) => this.#fail(error),
    };
    return {
      health: createHealthApp(options),
      dashboard: createDashboardApp({
        ...options,
        live: noStreams,
        page: undefined,
        pathPrefix,
        serverVersion: 'test',
      }),
    };
  }

  #fail(error: unknown): void {
    this.#state = 'failed';
    this.#lines.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
}

/** A disk that outlives its brokers: one that has crashed commits nothing more, whatever of it still moves in this process. */
class MortalDisk {
  readonly #disk = new VirtualDisk();
  #life = 1;

  set isFull(isFull: boolean) {
    this.#disk.isFull = isFull;
  }

  loseBroker(): void {
    this.#life += 1;
  }

  readonly openStore = async (): Promise<StorageProvider> => {
    const life = this.#life;
    const store = await this.#disk.openStore();
    const commit = (records: readonly StoreRecord[]) =>
      life === this.#life ? store.commit(records) : new Promise<void>(() => undefined);
    return { ...store, commit };
  };
}

function textOf(setting: string | { readonly durationMs: number }): string {
  return typeof setting === 'string' ? setting : `${setting.durationMs}ms`;
}

function loggerInto(lines: string[]): Logger {
  const note =
    (level: string) =>
    (sentence: string, fields: object = {}) =>
      void lines.push(`${level} ${sentence} ${JSON.stringify(fields)}`);
  return { error: note('error'), warn: note('warn'), info: note('info'), debug: note('debug') };
}
