// The recorded conversations of an existing client and broker, replayed to this client: it sends what that client sent for the same operations,
// with the recorded ids, and accepts what that broker answered. An Ack of this client also names its queue.

import { duplexPair } from 'node:stream';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { QueueOperationName } from '../model/access.ts';
import { DeliveryMode } from '../model/delivery-mode.ts';
import { nameOfNumber } from '../model/named-numbers.ts';
import { OverflowStrategy } from '../model/overflow-strategy.ts';
import { Command } from '../protocol/command.ts';
import { parseTimeSpan } from '../protocol/time-span.ts';
import { type ClientFrame, ScriptedBroker } from '../testing/scripted-broker.ts';
import { type RecordedEntry, recordedConnections } from '../testing/wire-fixtures.ts';
import {
  type Algorithm,
  type Client,
  type ConnectOptions,
  type CreateQueueOptions,
  connect,
} from './index.ts';

type Frame = Extract<RecordedEntry, { readonly hex: string }>;

const titles = [
  'queues-publish-deliver',
  'compression',
  'keep-alive',
  'queue-declarations',
  'token',
  'users-and-permissions',
  'shutdown',
];
const flagNames = ['none', 'gzip', 'brotli'];

const recordings = titles.flatMap((title) =>
  recordedConnections(title).map((entries, index) => {
    const frames = entries.filter((entry): entry is Frame => 'hex' in entry);
    return [`${title} ${index}`, frames] as const;
  }),
);

describe.each(recordings)('%s', (_title, frames) => {
  it('is sent by this client, frame by frame, and its answers are accepted', async () => {
    const replay = new Replay(frames);
    await replay.run();
    expect(replay.failures).toEqual(replay.refusals);
  });
});

class Replay {
  /** Codes of the operations that failed, and of those that the recorded broker refused. */
  readonly failures: string[] = [];
  readonly refusals: readonly string[];
  readonly #frames: readonly Frame[];
  readonly #broker: ScriptedBroker;
  readonly #connecting: Promise<Client | undefined>;
  readonly #operations: Promise<unknown>[] = [];

  constructor(frames: readonly Frame[]) {
    this.#frames = frames.filter(({ errorCode }) => errorCode !== 'NOT_AUTHENTICATED');
    this.refusals = this.#frames.flatMap(({ errorCode = '' }) => (errorCode === '' ? [] : [errorCode]));
    const [near, far] = duplexPair();
    this.#broker = new ScriptedBroker(far, inflate);
    const ids = frames
      .filter(({ from, command }) => from === 'client' && command !== 'Ack')
      .map(({ id }) => id);
    const options = { ...optionsOf(frames[0]), stream: near, createId: () => ids.shift() ?? 'spare' };
    this.#connecting = connect(options).catch((error: { readonly code: string }) => {
      this.failures.push(error.code);
      return undefined;
    });
  }

  async run(): Promise<void> {
    for (const [index, frame] of this.#frames.entries()) {
      if (frame.from === 'broker') this.#broker.sendRaw(Buffer.from(frame.hex, 'hex'));
      else if (await this.#play(frame, index)) return;
    }
    await Promise.all([this.#connecting, ...this.#operations]);
  }

  /** True when the connection was refused: the rest is that client's way to hang up. */
  async #play(frame: Frame, index: number): Promise<boolean> {
    if (index > 0) {
      const client = await this.#connecting;
      if (client === undefined) return true;
      await this.#begin(client, frame);
    }
    expect(described(await this.#broker.take())).toEqual(recorded(frame));
    return false;
  }

  async #begin(client: Client, frame: Frame): Promise<void> {
    const operation = operate(client, frame).catch((error: { readonly code: string }) => {
      this.failures.push(error.code);
    });
    this.#operations.push(operation);
  }
}

function operate(client: Client, { command, id, queue, payload, headers }: Frame): Promise<unknown> {
  const properties = (payload === '' ? {} : JSON.parse(payload)) as Record<string, string>;
  const { username = '', password = '', newPassword = '', queuePattern = '' } = properties;
  switch (command) {
    case 'Ack':
      return Promise.resolve();
    case 'Publish': {
      const { priority, ...own } = Object.fromEntries(headers);
      const known = priority === undefined ? {} : { priority: priority as 'High' };
      return client.publish(queue, JSON.parse(payload), { headers: own, ...known });
    }
    case 'Subscribe':
      return client.subscribe(queue, () => undefined);
    case 'Unsubscribe':
      return client.unsubscribe(queue);
    case 'CreateQueue':
      return client.createQueue(queue, payload === '' ? undefined : queueOptions(properties));
    case 'DeleteQueue':
      return client.deleteQueue(queue);
    case 'QueueInfo':
      return client.queueInfo(queue);
    case 'ListQueues':
      return client.listQueues();
    case 'Ping':
      return client.ping();
    case 'AdminCreateUser':
      return client.createUser(username, password);
    case 'AdminDeleteUser':
      return client.deleteUser(username);
    case 'AdminChangePassword':
      return client.changePassword(username, newPassword);
    case 'AdminGrantPermission': {
      const operations = properties['operations'] as unknown as readonly QueueOperationName[];
      return client.grant(username, queuePattern, operations);
    }
    case 'AdminRevokePermission':
      return client.revoke(username, queuePattern);
    case 'AdminListUsers':
      return client.listUsers();
    case 'AdminGetUserPermissions':
      return client.permissionsOf(username);
    case 'Disconnect':
      return client.close();
    default:
      throw new Error(`${command} ${id}: this test knows no operation that sends it`);
  }
}

function queueOptions(properties: Readonly<Record<string, unknown>>): CreateQueueOptions {
  const { mode, overflowStrategy, messageTtl, ...rest } = properties;
  return {
    mode: nameOfNumber(DeliveryMode, mode as 0),
    ...(messageTtl === undefined ? {} : { messageTtlMs: parseTimeSpan(String(messageTtl)) }),
    ...rest,
    overflowStrategy: nameOfNumber(OverflowStrategy, overflowStrategy as 0),
  } as CreateQueueOptions;
}

function optionsOf(connectFrame: Frame | undefined): ConnectOptions {
  const headers = new Map(connectFrame?.headers);
  const names = { authToken: 'authToken', authUsername: 'username', authPassword: 'password' } as const;
  const credentials = Object.entries(names).flatMap(([header, option]) =>
    headers.has(header) ? [[option, headers.get(header)]] : [],
  );
  const offered = headers.get('supported-compression');
  const compressions = offered === undefined ? [] : (offered.split(',') as Algorithm[]);
  return { ...Object.fromEntries(credentials), compressions };
}

/** Objects are compared without the order of their properties; the queue of an Ack is not compared. */
function described({ command, id, queue, payload, headers, flags }: ClientFrame) {
  const isAck = command === Command.Ack;
  const text = Buffer.from(payload).toString();
  return {
    command,
    id,
    queue: isAck ? '' : queue,
    value: text === '' ? undefined : JSON.parse(text),
    headers: new Map(headers),
    compression: flagNames[flags],
  };
}

function recorded({ command, id, queue, payload, headers, compression }: Frame) {
  const value: unknown = payload === '' ? undefined : JSON.parse(payload);
  return {
    command: Command[command as keyof typeof Command],
    id,
    queue,
    value,
    headers: new Map(headers),
    compression,
  };
}

function inflate(flags: number, body: Buffer): Buffer {
  if (flags === 0) return body;
  return flags === 1 ? gunzipSync(body) : brotliDecompressSync(body);
}
