// The API of the client library: connect, and the operations of a broker. Takes and returns values; client-connection.ts handles frames,
// ids and answers. This first version does not reconnect: when the connection ends, `closed` resolves and every operation fails with
// ConnectionError. Implements CLIENT-001, CLIENT-005 to CLIENT-008, CLIENT-040.

import type { QueueOperationName } from '../model/access.ts';
import type { PriorityName } from '../model/priority.ts';
import { Command, type CommandNumber } from '../protocol/command.ts';
import { HeaderName } from '../protocol/header-name.ts';
import type { Message } from '../protocol/message.ts';
import {
  checkedOperations,
  decodePermissions,
  decodeUsers,
  encodeProperties,
  type Permission,
  type User,
} from './admin-answers.ts';
import { ClientConnection, type ClosedReason } from './client-connection.ts';
import { ClientSubscription, type Outcome } from './client-subscription.ts';
import { dial } from './dial.ts';
import { type ClientSettings, type ConnectOptions, toSettings } from './options.ts';
import {
  type CreateQueueOptions,
  decodeQueueDetails,
  decodeQueueNames,
  encodeQueueOptions,
  type QueueDetails,
} from './queue-answers.ts';
import type { Handler, ReceivedMessage } from './received-message.ts';

/** Messages that may wait for handlers before the client stops reading: a queue without acks has no other limit. */
const MAX_BACKLOG_COUNT = 1_024;

export type PublishOptions = {
  /** Carried to the subscribers unchanged. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly priority?: PriorityName;
  /** The message's id; a message of this id that is still in the queue makes this one a repeat. Default: a fresh one. */
  readonly id?: string;
};

export type SubscribeOptions = {
  /** Unacknowledged messages that the broker may send; brokers that announce `maxInFlight` obey it. Default: the broker's. */
  readonly maxInFlight?: number;
};

/**
 * Connects to a broker and shakes hands.
 * @throws ConnectionError when there is no broker or it closes, CommandError when it refuses, CommandTimeoutError when it is silent
 */
export async function connect(options: ConnectOptions = {}): Promise<Client> {
  const settings = toSettings(options);
  const stream = options.stream ?? (await dial(options, settings.commandTimeoutMs));
  const subscriptions = new Map<string, ClientSubscription>();
  const onDeliver = (message: Message) => subscriptions.get(message.queue)?.deliver(message);
  const connection = new ClientConnection({ stream, settings, onDeliver });
  const welcome = await connection.open();
  return new Client({ connection, settings, subscriptions, welcome });
}

type Parts = {
  readonly connection: ClientConnection;
  readonly settings: ClientSettings;
  /** By queue; shared with the connection, which delivers into it. */
  readonly subscriptions: Map<string, ClientSubscription>;
  readonly welcome: Message;
};

/** A connection to a broker. All operations reject with CommandError, CommandTimeoutError or ConnectionError. */
export class Client {
  readonly #connection: ClientConnection;
  readonly #settings: ClientSettings;
  readonly #subscriptions: Map<string, ClientSubscription>;
  readonly #capabilities: ReadonlySet<string>;

  /** Use {@link connect}. */
  constructor({ connection, settings, subscriptions, welcome }: Parts) {
    this.#connection = connection;
    this.#settings = settings;
    this.#subscriptions = subscriptions;
    this.#capabilities = new Set(
      (welcome.headers.get(HeaderName.Capabilities) ?? '').split(',').map((name) => name.trim()),
    );
    this.#keepAlive();
  }

  /** Resolves when the connection has ended, with the reason; never rejects. */
  get closed(): Promise<ClosedReason> {
    return this.#connection.closed;
  }

  /** The optional features that the broker announced. */
  get capabilities(): ReadonlySet<string> {
    return this.#capabilities;
  }

  /**
   * Publishes a message and resolves with its id when the broker has taken responsibility for it. A Buffer is sent as it is and
   * must hold one JSON text; undefined is a message without payload; any other value is sent as JSON.
   */
  async publish(queue: string, value: unknown, options: PublishOptions = {}): Promise<string> {
    const id = options.id ?? this.#settings.createId();
    const headers = new Map(Object.entries(options.headers ?? {}));
    if (options.priority !== undefined) headers.set(HeaderName.Priority, options.priority);
    const fields = { command: Command.Publish, id, queue, headers, payload: toPayload(value) };
    await this.#connection.request(fields, Command.PublishAck);
    return id;
  }

  /**
   * Receives the messages of a queue, one after another; each is acknowledged when the handler is done with it. A second call
   * for the same queue replaces the handler.
   */
  async subscribe(queue: string, handler: Handler, options: SubscribeOptions = {}): Promise<void> {
    const previous = this.#subscriptions.get(queue);
    const subscription = this.#createSubscription(handler);
    // Registered before the answer: the first Deliver may be in the same chunk.
    this.#subscriptions.set(queue, subscription);
    const { maxInFlight } = options;
    const headers = new Map(maxInFlight === undefined ? [] : [[HeaderName.MaxInFlight, String(maxInFlight)]]);
    try {
      await this.#request(Command.Subscribe, Command.SubscribeAck, { queue, headers });
    } catch (error) {
      if (previous === undefined) this.#subscriptions.delete(queue);
      else this.#subscriptions.set(queue, previous);
      throw error;
    }
  }

  /** Resolves when the broker sends no more messages of the queue; received ones are still handled. */
  async unsubscribe(queue: string): Promise<void> {
    const subscription = this.#subscriptions.get(queue);
    await this.#request(Command.Unsubscribe, Command.UnsubscribeAck, { queue });
    if (this.#subscriptions.get(queue) === subscription) this.#subscriptions.delete(queue);
  }

  /** Creates a queue; without options it has the broker's defaults. A queue that exists is never changed. */
  async createQueue(queue: string, options?: CreateQueueOptions): Promise<void> {
    const payload = options === undefined ? {} : { payload: encodeQueueOptions(options) };
    await this.#request(Command.CreateQueue, Command.CreateQueue, { queue, ...payload });
  }

  /** Deletes a queue with all its messages. */
  async deleteQueue(queue: string): Promise<void> {
    await this.#request(Command.DeleteQueue, Command.DeleteQueue, { queue });
  }

  /** Describes a queue; undefined if there is no queue with this name. */
  async queueInfo(queue: string): Promise<QueueDetails | undefined> {
    const { payload } = await this.#request(Command.QueueInfo, Command.QueueInfo, { queue });
    return payload.length === 0 ? undefined : decodeQueueDetails(payload);
  }

  async listQueues(): Promise<readonly string[]> {
    return decodeQueueNames((await this.#request(Command.ListQueues, Command.ListQueues, {})).payload);
  }

  /** Creates a user without rights. Needs a superuser, as all commands about users do but those of a user about itself. */
  async createUser(username: string, password: string): Promise<void> {
    await this.#administer(Command.AdminCreateUser, { username, password });
  }

  /** Deletes a user; the broker closes its connections. A superuser cannot be deleted (`FORBIDDEN`). */
  async deleteUser(username: string): Promise<void> {
    await this.#administer(Command.AdminDeleteUser, { username });
  }

  /** Every user may change its own password. The broker closes the user's other connections. */
  async changePassword(username: string, newPassword: string): Promise<void> {
    await this.#administer(Command.AdminChangePassword, { username, newPassword });
  }

  /** Allows a user these operations, and no others, on the queues that the pattern matches; other patterns of the user stay. */
  async grant(
    username: string,
    queuePattern: string,
    operations: readonly QueueOperationName[],
  ): Promise<void> {
    const checked = checkedOperations(operations);
    await this.#administer(Command.AdminGrantPermission, { username, queuePattern, operations: checked });
  }

  /** Takes back what was granted for exactly this pattern; succeeds if nothing was. */
  async revoke(username: string, queuePattern: string): Promise<void> {
    await this.#administer(Command.AdminRevokePermission, { username, queuePattern });
  }

  async listUsers(): Promise<readonly User[]> {
    return decodeUsers(await this.#administer(Command.AdminListUsers));
  }

  /** What a user may do; empty for an unknown user. Every user may ask about itself. */
  async permissionsOf(username: string): Promise<readonly Permission[]> {
    return decodePermissions(await this.#administer(Command.AdminGetUserPermissions, { username }));
  }

  async ping(): Promise<void> {
    await this.#request(Command.Ping, Command.Pong, {});
  }

  /** Sends Disconnect and resolves when the connection has ended. Unacknowledged messages go to other subscribers. */
  async close(): Promise<void> {
    for (const subscription of this.#subscriptions.values()) subscription.stop();
    await this.#connection.close();
  }

  /** Sends an admin command, which is answered by the same command; returns the payload of the answer. */
  async #administer(command: CommandNumber, properties?: Readonly<Record<string, unknown>>): Promise<Buffer> {
    const fields = properties === undefined ? {} : { payload: encodeProperties(properties) };
    return (await this.#request(command, command, fields)).payload;
  }

  #request(
    command: CommandNumber,
    answer: CommandNumber,
    fields: {
      readonly queue?: string;
      readonly payload?: Buffer;
      readonly headers?: ReadonlyMap<string, string>;
    },
  ): Promise<Message> {
    return this.#connection.request({ command, id: this.#settings.createId(), ...fields }, answer);
  }

  #createSubscription(handler: Handler): ClientSubscription {
    return new ClientSubscription({
      handler,
      onOutcome: (delivery, outcome) => this.#settle(delivery, outcome),
      onError: this.#settings.onHandlerError,
      onBacklog: () => this.#balanceReading(),
    });
  }

  #settle(delivery: ReceivedMessage, outcome: Outcome): void {
    const ack = { command: Command.Ack, id: delivery.id, queue: delivery.queue };
    if (outcome === 'done') this.#connection.send(ack);
    else if (this.#capabilities.has('nack')) {
      this.#connection.send({ ...ack, headers: new Map([[HeaderName.FailureReason, outcome]]) });
    }
  }

  #balanceReading(): void {
    let backlogCount = 0;
    for (const subscription of this.#subscriptions.values()) backlogCount += subscription.backlogCount;
    if (backlogCount >= MAX_BACKLOG_COUNT) this.#connection.pause();
    else if (this.#connection.isPaused && backlogCount <= MAX_BACKLOG_COUNT / 2) this.#connection.resume();
  }

  /** Ends the connection if a Ping is not answered. While reading is paused no answer can arrive, so no Ping is sent. */
  #keepAlive(): void {
    const timer = setInterval(() => {
      if (this.#connection.isPaused) return;
      this.ping().catch(() => this.#connection.abandon());
    }, this.#settings.keepAliveIntervalMs);
    void this.closed.then(() => clearInterval(timer));
  }
}

function toPayload(value: unknown): Buffer {
  if (Buffer.isBuffer(value)) return value;
  if (value instanceof Uint8Array) return Buffer.from(value);
  if (value === undefined) return Buffer.alloc(0);
  const text: unknown = JSON.stringify(value);
  if (typeof text !== 'string') throw new TypeError(`a ${typeof value} cannot be sent as JSON`);
  return Buffer.from(text);
}
