// Scenarios in this process: a broker with a memory store, connected through virtual lines, in virtual time. Every scenario
// has a fresh broker, durations are exact, and nothing ever waits for real time.

import { totalmem } from 'node:os';
import type { Duplex } from 'node:stream';
import { flagName } from '../../../src/config/keys.ts';
import { loadConfiguration } from '../../../src/config/load.ts';
import { BrokerService } from '../../../src/engine/broker-service.ts';
import { ZlibCompressor } from '../../../src/engine/compressor.ts';
import type { Logger } from '../../../src/engine/logger.ts';
import { engineOptions } from '../../../src/engine/options-from-configuration.ts';
import { createHealthApp } from '../../../src/http/health/health-app.ts';
import { processMemorySampler } from '../../../src/http/health/memory.ts';
import { openMemoryStore } from '../../../src/storage/memory/memory-store.ts';
import { VirtualEnvironment } from '../../../src/testing/virtual-environment.ts';
import { openVirtualConnection } from '../../../src/testing/virtual-network.ts';
import type { BrokerState, BrokerUnderTest, Driver, HttpAnswer, HttpRequest, Settings } from './driver.ts';

export function inProcessDriver(): Driver {
  return {
    async start(settings) {
      const broker = new InProcessBroker(settings);
      await broker.start();
      return broker;
    },
    close: async () => undefined,
  };
}

class InProcessBroker implements BrokerUnderTest {
  readonly queuePrefix = '';
  readonly tolerance = { earlyMs: 0, lateMs: 0 };
  readonly notify = (): void => undefined;
  readonly #environment = new VirtualEnvironment();
  readonly #lines: string[] = [];
  readonly #broker: BrokerService;
  readonly #health: ReturnType<typeof createHealthApp>;
  #state: BrokerState = 'running';

  constructor(settings: Settings) {
    const flags = new Map([...settings].map(([key, setting]) => [flagName(key), textOf(setting)]));
    const machine = { memoryBytes: totalmem(), isTerminal: false };
    const { configuration } = loadConfiguration({ flags, environment: {}, machine });
    this.#broker = new BrokerService(engineOptions(configuration, '0.0.0'), {
      environment: this.#environment,
      openStore: async () => openMemoryStore(),
      // In place always: a thread pool would make the order of events depend on the machine.
      compressor: new ZlibCompressor({ inPlaceInputBytes: Number.POSITIVE_INFINITY }),
      logger: loggerInto(this.#lines),
    });
    const { clock } = this.#environment;
    this.#health = createHealthApp({
      view: this.#broker,
      sampleMemory: processMemorySampler(configuration.memoryLimitBytes),
      wallNow: clock.wallNow,
      uptimeMs: clock.now,
      allowedHosts: configuration.allowedHosts,
      onFault: (error) => this.#fail(error),
    });
  }

  start(): Promise<void> {
    return this.#broker.start();
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
    this.#broker.attach(server, '127.0.0.1');
    return client;
  }

  async request(path: string, request: HttpRequest = {}): Promise<HttpAnswer> {
    await this.#environment.settle();
    const response = await this.#health.request(path, { ...request });
    return { status: response.status, headers: new Map(response.headers), text: await response.text() };
  }

  settle(): Promise<void> {
    return this.#environment.settle();
  }

  pass(durationMs: number): Promise<void> {
    return this.#environment.advance(durationMs);
  }

  async until<Found>(find: () => Found | undefined): Promise<Found | undefined> {
    await this.#environment.settle();
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

  release(): void {
    // Nothing outlives the scenario: the environment's timers run only when somebody lets time pass.
  }

  log(): string {
    return this.#lines.join('\n');
  }

  #fail(error: unknown): void {
    this.#state = 'failed';
    this.#lines.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
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
