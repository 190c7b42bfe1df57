// A place where a client finds a scripted broker for each of its connections, or none. For tests of the client library that reconnect.

import { type Duplex, duplexPair } from 'node:stream';
import { vi } from 'vitest';
import { type CallOptions, type Client, type ConnectOptions, connect } from '../client/index.ts';
import { ScriptedBroker } from './scripted-broker.ts';
import type { BodyParts } from './wire-bytes.ts';

/** Time stands still for the client, but not for streams. */
export function useVirtualTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
}

export class ScriptedNetwork {
  /** Whether connections are refused. */
  isDown = false;
  /** When each connection was asked for. */
  readonly attemptsAt: number[] = [];
  readonly #brokers: ScriptedBroker[] = [];
  readonly #waiting: ((broker: ScriptedBroker) => void)[] = [];

  readonly openStream = async (): Promise<Duplex> => {
    this.attemptsAt.push(performance.now());
    if (this.isDown) throw Object.assign(new Error('nobody listens'), { code: 'ECONNREFUSED' });
    const [near, far] = duplexPair();
    // As with sockets: who loses one end loses the other.
    far.once('close', () => near.destroy());
    const broker = new ScriptedBroker(far);
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#brokers.push(broker);
    else waiting(broker);
    return near;
  };

  /** The broker of the next connection. */
  take(): Promise<ScriptedBroker> {
    const broker = this.#brokers.shift();
    if (broker !== undefined) return Promise.resolve(broker);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** A connected client, and its first broker. */
  async connect(
    options: ConnectOptions & CallOptions = {},
    welcome: BodyParts['headers'] = [],
  ): Promise<{ readonly client: Client; readonly broker: ScriptedBroker }> {
    const connecting = connect({ ...options, openStream: this.openStream });
    const broker = await this.take();
    await broker.welcome(welcome);
    return { client: await connecting, broker };
  }

  /** Ends the connection to a broker; after `delayMs` the client has another one, to the broker that is returned. */
  async reconnect(broker: ScriptedBroker, delayMs = 1_000): Promise<ScriptedBroker> {
    broker.destroy();
    await this.settle();
    await vi.advanceTimersByTimeAsync(delayMs);
    const next = await this.take();
    await next.welcome();
    return next;
  }

  /** Lets streams and promises do what they can without time. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }
}
