// What a scenario needs of a broker, however it is run. One driver runs it in this process in virtual time, one does so with a backend
// whose queues are elsewhere, and one starts the built command and talks to it over TCP. A scenario must not be able to tell which: its
// durations are the scenario's own, and the driver decides how long they really are.

import type { Duplex } from 'node:stream';
import type { ConfigurationKey } from '../../../src/config/keys.ts';
import type { Client } from '../client.ts';

/** A setting of the broker: a text as on the command line, or a duration of the scenario. */
export type Setting = string | { readonly durationMs: number };

export type Settings = ReadonlyMap<ConfigurationKey, Setting>;

export type Driver = {
  /** A broker with these settings; it may be one that other scenarios have used. */
  start(settings: Settings): Promise<BrokerUnderTest>;
  /** Ends every broker. */
  close(): Promise<void>;
};

/** How a broker is, seen from outside: it runs, it has ended in good order, or it has failed. */
export type BrokerState = 'running' | 'ended' | 'failed';

export type HttpRequest = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

export type HttpAnswer = {
  readonly status: number;
  /** By their names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
};

export type BrokerUnderTest = {
  /** Stands in front of every queue name of the scenario, so that scenarios can share a broker. */
  readonly queuePrefix: string;
  /** How much earlier or later than said something may be seen to happen, in the scenario's time. */
  readonly tolerance: { readonly earlyMs: number; readonly lateMs: number };
  /** The scenario's time, from any beginning. */
  now(): number;
  /** The broker's wall clock. */
  wallNow(): number;
  /** How long a duration of the scenario is for the broker. */
  scaled(durationMs: number): number;
  /** A connection to the broker. Rejects when it takes none. */
  open(): Promise<Duplex>;
  /** Where it listens; undefined if it does not. */
  readonly address: { readonly host: string; readonly port: number } | undefined;
  /** Sends SIGHUP to its process. */
  hangUp(): void;
  /** An HTTP request to the health server, or to the dashboard if the path begins with /api/. */
  request(path: string, request?: HttpRequest): Promise<HttpAnswer>;
  /** Resolves when everything that was sent has taken effect, and what came of it has arrived at the clients. */
  settle(clients: Iterable<Client>): Promise<void>;
  /** Lets time pass. */
  pass(durationMs: number): Promise<void>;
  /** What `find` finds, as soon as it finds something; undefined when it does not within reasonable time. */
  until<Found>(find: () => Found | undefined): Promise<Found | undefined>;
  /** Has `until` look again: something has come. */
  readonly notify: () => void;
  /** Asks the broker to end in good order. */
  stop(): void;
  state(): BrokerState;
  /** Ends the broker at once, whatever it is doing; what its durable store has committed stays. */
  crash(): Promise<void>;
  /** Starts it again over the same store, after it has ended. */
  startAgain(): Promise<void>;
  /** No more fits on the disk of its durable store, or there is room again. */
  fillDisk(isFull: boolean): Promise<void>;
  /** The scenario is over. */
  release(): void;
  /** What the broker has logged, for a failure's report. */
  log(): string;
};
