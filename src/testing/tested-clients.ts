// Clients of a broker in virtual time, on virtual connections, with short calls for common steps of tests.

import type { Duplex } from 'node:stream';
import type { LogFields, Logger } from '../model/logger.ts';
import { VirtualEnvironment } from './virtual-environment.ts';
import { type LineOptions, openVirtualConnection, type VirtualSocket } from './virtual-network.ts';
import type { BodyParts } from './wire-bytes.ts';
import { type Inflate, WireClient } from './wire-client.ts';

export type AttachOptions = LineOptions & { readonly address?: string; readonly inflate?: Inflate };

export type LogLine = {
  readonly level: 'error' | 'warn' | 'info' | 'debug';
  readonly sentence: string;
  readonly fields: LogFields;
};

export abstract class TestedClients {
  readonly environment = new VirtualEnvironment();
  /** Sentences above level debug. */
  readonly logged: string[] = [];
  readonly logLines: LogLine[] = [];
  /** Serves the clients. */
  protected abstract readonly gateway: { attach(stream: Duplex, address: string): void };

  /** A client that has sent nothing, and the broker's end of its connection. */
  attachWithServer({ address = '192.0.2.1', inflate, ...line }: AttachOptions = {}): {
    readonly client: WireClient;
    readonly server: VirtualSocket;
  } {
    const { client, server } = openVirtualConnection(this.environment.scheduler, line);
    this.gateway.attach(server, address);
    return { client: new WireClient(client, inflate), server };
  }

  attach(options?: AttachOptions): WireClient {
    return this.attachWithServer(options).client;
  }

  /** A connected client. */
  async connect(options?: AttachOptions, headers: BodyParts['headers'] = []): Promise<WireClient> {
    const client = this.attach(options);
    client.send({ command: 0, id: 'connect', headers });
    await this.settle();
    const [answer] = client.take();
    if (answer?.command !== 1) throw new Error('The handshake failed.');
    client.chunks.length = 0;
    return client;
  }

  /** A connected client with a subscription. */
  async subscriber(queue: string, options?: AttachOptions): Promise<WireClient> {
    const client = await this.connect(options);
    await this.exchange(client, subscribe(queue));
    client.chunks.length = 0;
    return client;
  }

  /** Sends frames in one write and returns the frames received at this moment, one line each. */
  async exchange(client: WireClient, ...frames: readonly BodyParts[]): Promise<readonly string[]> {
    client.send(...frames);
    await this.settle();
    return client.lines();
  }

  settle(): Promise<void> {
    return this.environment.settle();
  }

  advance(durationMs: number): Promise<void> {
    return this.environment.advance(durationMs);
  }

  protected logger(): Logger {
    const log =
      (level: LogLine['level']) =>
      (sentence: string, fields: LogFields = {}) => {
        this.logLines.push({ level, sentence, fields });
        if (level !== 'debug') this.logged.push(sentence);
      };
    return { error: log('error'), warn: log('warn'), info: log('info'), debug: log('debug') };
  }
}

export function publish(queue: string, id: string, extras: Partial<BodyParts> = {}): BodyParts {
  return { command: 20, id, queue, ...extras };
}

export function subscribe(queue: string, id = `subscribe-${queue}`): BodyParts {
  return { command: 22, id, queue };
}

export function ack(id: string): BodyParts {
  return { command: 30, id };
}

export function ping(id = 'ping'): BodyParts {
  return { command: 10, id };
}
