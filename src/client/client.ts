// The API of the client library: connect, publish and subscribe. Takes and returns values; supervisor.ts keeps the connection, publisher.ts
// and subscriptions.ts keep what is to survive its loss. Implements CLIENT-001, CLIENT-005, CLIENT-006, CLIENT-015,
// CLIENT-030, CLIENT-040 and CLIENT-046.

import { Command, commandName } from '../protocol/command.ts';
import { HeaderName } from '../protocol/header-name.ts';
import { type Message, noHeaders } from '../protocol/message.ts';
import { type CallOptions, orAborted } from './abort.ts';
import { BrokerCommands } from './broker-commands.ts';
import type { ClosedReason, CommandRequest } from './client-connection.ts';
import { type EventListener, EventListeners, type EventName } from './client-events.ts';
import { ClientSubscription } from './client-subscription.ts';
import { parseConnectionString } from './connection-string.ts';
import { DeclaredQueues } from './declarations/declared-queues.ts';
import { dial } from './dial.ts';
import type { ClientError } from './errors.ts';
import { type LoopSource, MessageLoop } from './message-loop.ts';
import { checkedStream, openStreamWithin } from './open-stream.ts';
import {
  checkCallOptions,
  checkPublishAllOptions,
  checkPublishOptions,
  checkSubscribeOptions,
  type PublishOptions,
  type SubscribeOptions,
  toHeaders,
} from './operation-options.ts';
import { checkArgument } from './option-checks.ts';
import { type ClientSettings, type ConnectOptions, checkConnectKeys, toSettings } from './options.ts';
import { toPayload } from './payload.ts';
import { publishEach } from './publish-all.ts';
import { PublishTask } from './publish-task.ts';
import { Publisher } from './publisher.ts';
import type { Handler, ReceivedMessage } from './received-message.ts';
import { Subscriptions } from './subscriptions.ts';
import { Supervisor } from './supervisor.ts';

/**
 * Connects as the other form does, with the options of a connection string, `vibemq://[user:password@]host[:port][?key=value&..]` or `Host=..;Port=..;key=value`.
 * `options` override those of the string, each as a whole, except those that are undefined.
 * @throws ConnectionStringError, which says what is wrong, where, and what is allowed
 */
export function connect(connectionString: string, options?: ConnectOptions & CallOptions): Promise<Client>;
/**
 * Connects to a broker, shakes hands, and creates or compares the declared queues.
 * @throws ConnectionError when there is no broker or it closes, CommandError when it refuses, CommandTimeoutError when it is silent, RangeError
 * and TypeError for an option or an argument that is not allowed, DeclarationError and QueueConflictError for declared queues, the reason of `signal`
 */
export function connect(options?: ConnectOptions & CallOptions): Promise<Client>;
export async function connect(
  target: string | (ConnectOptions & CallOptions) = {},
  options?: ConnectOptions & CallOptions,
): Promise<Client> {
  if (typeof target === 'string') {
    if (options !== undefined) checkConnectKeys(options);
    return Client.open({ ...parseConnectionString(target), ...withoutAbsent(options) });
  }
  if (options === undefined) return Client.open(target);
  throw new TypeError(
    'connect: two arguments came; allowed is a connection string and options, or options alone',
  );
}

/** A client of a broker. Operations reject with CommandError, CommandTimeoutError or ConnectionError. */
export class Client extends BrokerCommands {
  readonly #settings: ClientSettings;
  readonly #events = new EventListeners();
  readonly #subscriptions: Subscriptions;
  readonly #publisher: Publisher;
  readonly #supervisor: Supervisor;

  /** As {@link connect}. */
  static async open(options: ConnectOptions & CallOptions): Promise<Client> {
    const client = new Client(options, toSettings(options));
    await client.#supervisor.start(options);
    return client;
  }

  private constructor(options: ConnectOptions, settings: ClientSettings) {
    super((request, call) => this.#request(request, call));
    const { stream, openStream } = options;
    this.#settings = settings;
    this.#subscriptions = new Subscriptions({
      events: this.#events,
      request: (request, call) => this.#request(request, call),
      isConnected: () => this.#supervisor.connection !== undefined,
    });
    this.#publisher = new Publisher({ window: settings.publishWindow, resends: settings.resendsPublishes });
    this.#supervisor = new Supervisor({
      settings,
      openStream: async (signal) => {
        if (stream !== undefined) return checkedStream(stream);
        if (openStream !== undefined) return openStreamWithin(openStream, settings.commandTimeoutMs, signal);
        return dial(options, settings.commandTimeoutMs, signal);
      },
      onDeliver: (message, connection) => this.#subscriptions.deliver(message, connection),
      onUndeliverable: (queue, error) => this.#subscriptions.lose(queue, error),
      // The queues come first: subscriptions may need them.
      wanted: [new DeclaredQueues(settings.declarations), this.#subscriptions, this.#publisher],
      events: this.#events,
    });
  }

  /** Resolves when the client has ended and does not reconnect, with the reason; never rejects. */
  get closed(): Promise<ClosedReason> {
    return this.#supervisor.closed;
  }

  /** The optional features that the broker announced; empty while there is no connection. */
  get capabilities(): ReadonlySet<string> {
    return this.#supervisor.connection?.capabilities ?? new Set();
  }

  /**
   * Calls the listener for each event of this name. Its failure becomes a warning of the process.
   * @throws TypeError for an event that there is not, and for what is no function
   */
  on<Name extends EventName>(name: Name, listener: EventListener<Name>): this {
    this.#events.add(name, listener);
    return this;
  }

  /** Ends what `on` began. @throws as `on` */
  off<Name extends EventName>(name: Name, listener: EventListener<Name>): this {
    this.#events.remove(name, listener);
    return this;
  }

  /**
   * Publishes a message and resolves with its id when the broker has taken responsibility for it. A Buffer is sent as it is and
   * must hold one JSON text, and must not change before; undefined is a message without payload; any other value is sent as JSON.
   * @throws PublishBufferFullError when too many publishes wait; MessageTooLargeError; TypeError and RangeError for a value that has no JSON
   * form, and for options that are unknown or wrong
   */
  publish<Value = unknown>(queue: string, value: Value, options: PublishOptions = {}): Promise<string> {
    // `null` comes from programs without types, and is refused below.
    const signal = (options as PublishOptions | null)?.signal;
    let task: PublishTask | undefined;
    const published = new Promise<string>((resolve, reject) => {
      checkArgument('queue', queue, 'string');
      checkPublishOptions(options);
      signal?.throwIfAborted();
      const fields = {
        id: options.id ?? this.#settings.createId(),
        hasChosenId: options.id !== undefined || this.#settings.mayRepeatIds,
        queue,
        headers: toHeaders(options),
        payload: toPayload(value),
      };
      task = new PublishTask(fields, this.#publisher, { resolve, reject });
      this.#publisher.publish(task);
    });
    if (signal === undefined || task === undefined) return published;
    const sent = task;
    return orAborted(published, signal, () => this.#publisher.withdraw(sent));
  }

  /**
   * Publishes each value, as many at a time as the window allows, and resolves with their number when all are confirmed. After the first failure
   * it takes no more values, and rejects with it when the others are settled: also when the client ends or the signal is aborted while the source has
   * no value. It then calls `return()` of the source, and does not wait for it.
   */
  async publishAll<Value = unknown>(
    queue: string,
    values: Iterable<Value> | AsyncIterable<Value>,
    options: Omit<PublishOptions, 'id'> = {},
  ): Promise<number> {
    checkArgument('queue', queue, 'string');
    checkPublishAllOptions(options);
    const { signal } = options;
    return publishEach(values, {
      publish: (value) => this.publish(queue, value, options),
      roomToPublish: () => (this.#publisher.hasRoom ? undefined : this.roomToPublish({ signal })),
      onEnd: (listener) => this.#publisher.onEnd(listener),
      signal,
    });
  }

  /** Resolves when a publish would be sent without waiting for others. @throws ConnectionError, or why it ended, when the client ends or has ended */
  async roomToPublish(call: CallOptions = {}): Promise<void> {
    checkCallOptions(call);
    let forget = () => {};
    const room = new Promise<void>((resolve, reject) => {
      forget = this.#publisher.onRoom((endedBy) => (endedBy === undefined ? resolve() : reject(endedBy)));
    });
    await orAborted(room, call.signal, forget);
  }

  /**
   * Receives the messages of a queue, one after another; each is acknowledged when the handler is done with it. A second call
   * for the same queue replaces the handler. After a reconnect the client subscribes again.
   */
  async subscribe<Value = unknown>(
    queue: string,
    handler: Handler<Value>,
    options: SubscribeOptions = {},
  ): Promise<void> {
    checkArgument('queue', queue, 'string');
    checkArgument('handler', handler, 'function');
    checkSubscribeOptions(options);
    await this.#subscriptions.open(queue, this.#createSubscription(handler as Handler, options), options);
  }

  /**
   * The messages of a queue for a `for await` loop, which subscribes when it starts. A message is acknowledged when the loop asks for the next
   * one. A loop that is left, by `break` or an error, does not acknowledge the current message, and unsubscribes; so do `return()` and `await using`,
   * also while `next()` waits. Another `for await` over the same object subscribes again. The loop ends when the client is closed; it throws when
   * the subscription or the connection is lost for good, when another subscription of this client to the queue takes its place, and the reason of
   * `signal`.
   */
  messages<Value = unknown>(
    queue: string,
    options: SubscribeOptions = {},
  ): AsyncGenerator<ReceivedMessage<Value>, void, undefined> {
    checkArgument('queue', queue, 'string');
    checkSubscribeOptions(options);
    return new MessageLoop<Value>({
      createSource: () => this.#createLoopSource(queue, options),
      signal: options.signal,
    });
  }

  /** Resolves when the broker sends no more messages of the queue; received ones are still handled. */
  async unsubscribe(queue: string, call: CallOptions = {}): Promise<void> {
    checkArgument('queue', queue, 'string');
    checkCallOptions(call);
    await this.#subscriptions.close(queue, call);
  }

  async ping(call: CallOptions = {}): Promise<void> {
    checkCallOptions(call);
    await this.#request({ command: Command.Ping, answer: Command.Pong }, call);
  }

  /**
   * Sends Disconnect and resolves when the client has ended. Unacknowledged messages go to other subscribers; publishes that are not
   * confirmed fail, so await them before.
   */
  async close(): Promise<void> {
    this.#subscriptions.stopAll();
    await this.#supervisor.close();
  }

  /** Closes the client: for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #request(request: CommandRequest, call: CallOptions = {}): Promise<Message> {
    const connection = await this.#supervisor.waitForConnection(describe(request), call);
    return connection.request(request, call);
  }

  #createLoopSource<Value>(queue: string, options: SubscribeOptions): LoopSource<Value> {
    let subscription: ClientSubscription | undefined;
    return {
      start: (handler, onEnd, signal) => {
        subscription = this.#createSubscription(handler as Handler, options, onEnd);
        return this.#subscriptions.open(queue, subscription, { signal });
      },
      stop: async () => {
        if (subscription !== undefined) await this.#subscriptions.drop(queue, subscription);
      },
    };
  }

  #createSubscription(
    handler: Handler,
    { maxInFlight, ack = 'auto' }: SubscribeOptions,
    onEnd: (error: ClientError | undefined) => void = () => undefined,
  ): ClientSubscription {
    const headers = new Map([[HeaderName.MaxInFlight, String(maxInFlight)]]);
    return new ClientSubscription({
      handler,
      ack,
      headers: maxInFlight === undefined ? noHeaders : headers,
      onError: this.#settings.onHandlerError,
      onBacklog: () => this.#subscriptions.balanceReading(),
      onEnd,
    });
  }
}

/** An option that is undefined counts as absent: it must not take the place of one of the string. */
function withoutAbsent(options: ConnectOptions & CallOptions = {}): ConnectOptions & CallOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function describe({ command, queue = '' }: CommandRequest): string {
  const name = commandName(command) ?? String(command);
  return queue === '' ? name : `${name} of queue ${JSON.stringify(queue)}`;
}
