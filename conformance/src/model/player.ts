// Plays a scenario against the broker, one command after another, and passes every received frame to the model. After each command it
// waits until the broker is quiet: it has answered a Ping on every connection, and no delivery is due in the model. So the result does
// not depend on the speed of the broker. It judges nothing itself.
import { setTimeout as pause } from 'node:timers/promises';
import type { CheckContext } from '../check.ts';
import type { Connection } from '../connection.ts';
import { deliveryModes } from '../history/operation.ts';
import { Command } from '../wire/command.ts';
import type { FrameFields, ReceivedFrame } from '../wire/frame.ts';
import { BrokenRule, BrokerModel } from './broker-model.ts';
import type { AckForm, ModelCommand, PlannedQueue, Scenario } from './command.ts';
import { overflowStrategies } from './command.ts';
import type { HeldDelivery } from './scenario-client.ts';
import { ScenarioClient } from './scenario-client.ts';
import type { Content, Difference, ModelQueueOptions } from './state.ts';

export type PlayerSetting = {
  /** How long to wait for a delivery that is due. */
  readonly deliveryMs: number;
  /** The options of an auto-created queue; undefined: scenarios must not create queues that way. */
  readonly defaults: ModelQueueOptions | undefined;
  /** Opens or reuses a connection. */
  readonly connect: () => Promise<Connection>;
  /** Clauses of recommendations that the broker is known not to follow. */
  readonly known: ReadonlySet<string>;
  /** Part of all queue names of this play, unique in the check. */
  readonly name: string;
};

const pollGapMs = 5;
/** A play takes at most this share of the ack timeout: timers may fire early, and a held delivery would be redelivered. */
const maxPlayShare = 0.5;
/** A delivery is missing only after the broker has answered this many Pings on every connection: a busy machine needs longer. */
const minPollCount = 100;
const shortPauseMs = 100;
const priorities = ['Low', 'Normal', 'High', 'Critical'];

export class Player {
  readonly #ctx: CheckContext;
  readonly #scenario: Scenario;
  readonly #setting: PlayerSetting;
  readonly #model: BrokerModel;
  readonly #clients: ScenarioClient[] = [];
  /** The ids published to each planned queue. */
  readonly #published = new Map<number, string[]>();
  readonly #until: number;
  #connectionCount = 0;
  #at = 0;
  #isTooLong = false;

  constructor(ctx: CheckContext, scenario: Scenario, setting: PlayerSetting) {
    this.#ctx = ctx;
    this.#scenario = scenario;
    this.#setting = setting;
    this.#model = new BrokerModel(setting.defaults, setting.known);
    this.#until = ctx.now() + ctx.target.ackTimeoutMs * maxPlayShare;
  }

  /** Whether the play was abandoned, because the model had too many states or deliveries were held for too long. */
  get isGivenUp(): boolean {
    return this.#model.isLost || this.#isTooLong;
  }

  /** The current connections, for another play. */
  get connections(): readonly Connection[] {
    return this.#clients.map(({ connection }) => connection);
  }

  /** Returns the recommendations that the broker does not follow. Throws a BrokenRule, or an ExpectationFailure for a missing answer. */
  async play(): Promise<readonly Difference[]> {
    try {
      return await this.#playAll();
    } catch (error) {
      if (!(error instanceof BrokenRule) || this.#ctx.now() < this.#until) throw error;
      this.#isTooLong = true;
      return [];
    }
  }

  async #playAll(): Promise<readonly Difference[]> {
    for (let place = 0; place < this.#scenario.connectionCount; place += 1)
      this.#clients.push(new ScenarioClient(await this.#setting.connect(), this.#nextNumber()));
    for (const command of this.#scenario.commands) {
      this.#at += 1;
      await this.#carryOut(command);
      this.#isTooLong = this.#ctx.now() >= this.#until;
      if (this.isGivenUp) return [];
    }
    await this.#drain();
    return this.#model.differences;
  }

  /** Ends the subscriptions and deletes the queues, so that the connections can be reused. Accepts any answer. */
  async cleanUp(): Promise<void> {
    const [first] = this.#clients;
    for (const { connection, subscriptions } of this.#clients) {
      for (const queue of subscriptions)
        await connection.request({ command: Command.Unsubscribe, id: this.#ctx.id(), queue });
    }
    for (const queue of this.#names())
      await first?.connection.request({ command: Command.DeleteQueue, id: this.#ctx.id(), queue });
    await Promise.all(this.connections.map((connection) => connection.ping()));
  }

  #nextNumber(): number {
    this.#connectionCount += 1;
    return this.#connectionCount - 1;
  }

  async #carryOut(command: ModelCommand): Promise<void> {
    const client = this.#clients[command.by];
    if (client === undefined) return;
    switch (command.kind) {
      case 'publish':
        return this.#publish(client, command);
      case 'subscribe':
        return this.#subscribe(client, this.#nameOf(command.queue));
      case 'subscribeToDeadLetters':
        return this.#subscribeToDeadLetters(client, command.queue);
      case 'unsubscribe':
        return this.#unsubscribe(client, this.#nameOf(command.queue));
      case 'ack':
        return this.#ack(client, client.heldAt(command.pick), command.form);
      case 'ackAgain':
        return this.#ack(client, client.acknowledgedAt(command.pick), 'id');
      case 'ackForeign':
        return this.#ack(client, this.#heldElsewhere(client, command.pick), 'id');
      case 'nack':
        return this.#nack(client, command);
      case 'create':
        return this.#create(client, command);
      case 'delete':
        return this.#delete(client, this.#nameOf(command.queue));
      case 'info':
        return this.#info(client, this.#nameOf(command.queue));
      case 'list':
        return this.#list(client);
      case 'leave':
        return this.#endConnection(client, command.how);
    }
  }

  async #publish(client: ScenarioClient, command: Extract<ModelCommand, { kind: 'publish' }>): Promise<void> {
    const queue = this.#nameOf(command.queue);
    if (!this.#mayCreate(queue)) return;
    const ids = this.#published.get(command.queue) ?? [];
    const repeated = command.repeat === undefined ? undefined : ids[command.repeat % Math.max(1, ids.length)];
    const id = repeated ?? this.#ctx.id('m');
    this.#published.set(command.queue, [...ids, id]);
    const headers = {
      ...(command.priority === undefined ? {} : { priority: command.priority }),
      'x-number': String(this.#at),
    };
    const priority = priorities.indexOf(command.priority ?? 'Normal');
    const content: Content = { id, payload: command.payload, headers, priority };
    this.#model.publish({ queue, content, publisher: client.number, at: this.#at });
    const fields = { command: Command.Publish, id, queue, payload: command.payload, headers };
    await this.#request(client, fields, { clause: 'PUBLISH-001', what: `Publish ${id} to ${queue}` });
  }

  async #subscribe(client: ScenarioClient, queue: string): Promise<void> {
    if (!this.#mayCreate(queue) && !this.#model.mayHave(queue)) return;
    this.#model.subscribe(client.number, queue);
    const subscribed = (): void => {
      this.#model.subscribed(client.number, queue);
      client.subscriptions.add(queue);
    };
    await this.#command(client, 'Subscribe', queue, 'DELIVERY-069', subscribed);
  }

  async #subscribeToDeadLetters(client: ScenarioClient, planned: number): Promise<void> {
    const options = this.#optionsOf(planned);
    if (options.enableDeadLetterQueue && this.#model.mayHave(options.deadLetterQueue))
      await this.#subscribe(client, options.deadLetterQueue);
  }

  async #unsubscribe(client: ScenarioClient, queue: string): Promise<void> {
    if (!client.subscriptions.delete(queue)) return;
    this.#model.unsubscribe(client.number, queue, this.#at);
    await this.#command(client, 'Unsubscribe', queue, 'DELIVERY-061');
  }

  async #ack(client: ScenarioClient, held: HeldDelivery | undefined, form: AckForm): Promise<void> {
    if (held === undefined) return;
    const { id, queue } = held;
    const named = { connection: client.number, id, queue: form === 'id and queue' ? queue : undefined };
    this.#model.acknowledge(
      { ...named, at: this.#at },
      form === 'header messageId' ? ackHeaderIgnored : undefined,
    );
    client.release(held);
    client.acknowledged.push(held);
    await client.connection.send({ command: Command.Ack, ...ackFields(this.#ctx, held, form) });
    await this.#quiet('DELIVERY-058');
  }

  async #nack(
    client: ScenarioClient,
    { pick, reason }: { readonly pick: number; readonly reason: 'HandlerException' | 'DeserializationError' },
  ): Promise<void> {
    const held = client.heldAt(pick);
    if (held === undefined) return;
    this.#model.refuse(client.number, held.id, reason, this.#at);
    client.release(held);
    await client.connection.send({ command: Command.Ack, id: held.id, headers: { failureReason: reason } });
    await this.#quiet('NACK-010', this.#waitsForPauses);
  }

  async #create(
    client: ScenarioClient,
    { queue, as }: Extract<ModelCommand, { kind: 'create' }>,
  ): Promise<void> {
    const name = this.#nameOf(queue);
    const planned = this.#optionsOf(queue);
    const options =
      as === 'other options' ? { ...planned, maxRetryAttempts: planned.maxRetryAttempts + 1 } : planned;
    const isBare = as === 'no options';
    if (isBare && !this.#mayCreate(name)) return;
    this.#model.create(name, isBare ? (this.#setting.defaults ?? options) : options, isBare);
    const payload = isBare ? {} : { payload: JSON.stringify(optionsOnTheWire(options)) };
    const fields = { command: Command.CreateQueue, id: this.#ctx.id(), queue: name, ...payload };
    await this.#request(client, fields, { clause: 'QUEUE-001', what: `CreateQueue ${name}` });
    // Asks whether the dead letter queue exists and under which name, so that the model continues with few states.
    const { deadLetterQueue } = planned;
    if (this.#model.mayHave(deadLetterQueue) && !this.#model.has(deadLetterQueue)) await this.#list(client);
  }

  async #delete(client: ScenarioClient, queue: string): Promise<void> {
    this.#model.delete(queue, this.#at);
    await this.#command(client, 'DeleteQueue', queue, 'QUEUE-014');
  }

  async #info(client: ScenarioClient, queue: string): Promise<void> {
    this.#model.ask();
    const info = await this.#command(client, 'QueueInfo', queue, 'QUEUE-021');
    this.#model.info(queue, recordOf(info));
  }

  async #list(client: ScenarioClient): Promise<void> {
    this.#model.ask();
    const answer = await this.#command(client, 'ListQueues', '', 'QUEUE-028');
    const names = answer.json();
    this.#model.list(Array.isArray(names) ? names.map(String) : [], this.#names());
  }

  /** Ends the connection, and waits until each of its queues has one subscriber less. */
  async #endConnection(client: ScenarioClient, how: 'reset' | 'Disconnect'): Promise<void> {
    const left = [...client.subscriptions];
    this.#model.leave(client.number, this.#at);
    if (how === 'reset') await client.connection.abort();
    else {
      await client.connection.disconnect();
      await client.connection.closed();
    }
    client.reconnect(await this.#ctx.connect({ own: true }), this.#nextNumber());
    for (const queue of left) await this.#waitForConnectionEnd(client.connection, queue);
    await this.#quiet('DELIVERY-038', this.#waitsForPauses);
  }

  async #waitForConnectionEnd(witness: Connection, queue: string): Promise<void> {
    const from = this.#ctx.now();
    const until = from + this.#setting.deliveryMs;
    const [likeliest, ...others] = this.#model.subscriberCounts(queue);
    for (;;) {
      const info = await witness.queueInfo(queue);
      const count = info?.['subscriberCount'];
      if (count === likeliest) return;
      // In another state this count is right too, and a model that has lost states cannot say: it is accepted after the time in which the
      // broker sees the end of the connection.
      const mayBeRight = others.includes(count) || this.#model.isLost;
      if (mayBeRight && this.#ctx.now() >= from + this.#ctx.timing.silenceMs) return;
      const text = `subscriberCount of ${queue} is still ${info?.['subscriberCount']} after the connection of a subscriber ended`;
      if (this.#ctx.now() >= until) throw new BrokenRule({ clause: 'QUEUE-026', text });
      await pause(pollGapMs);
    }
  }

  /** Subscribes to every queue and acknowledges every delivery; then no message may be left, and no delivery may be due. */
  async #drain(): Promise<void> {
    const [first] = this.#clients;
    if (first === undefined) return;
    for (let isDry = false; !isDry && !this.#model.isLost; ) {
      this.#at += 1;
      const unserved = this.#model.unserved();
      for (const queue of unserved) await this.#subscribe(first, queue);
      const held = this.#clients.flatMap((client) => client.held.map((one) => ({ client, one })));
      for (const { client, one } of held) await this.#ack(client, one, 'id');
      if (unserved.length === 0 && held.length === 0) await this.#quiet('DELIVERY-006', true);
      isDry =
        unserved.length === 0 &&
        this.#clients.every((client) => client.held.length === 0) &&
        held.length === 0;
    }
    for (const name of this.#names()) if (this.#model.mayHave(name)) await this.#info(first, name);
  }

  #command(
    client: ScenarioClient,
    command: 'Subscribe' | 'Unsubscribe' | 'DeleteQueue' | 'QueueInfo' | 'ListQueues',
    queue: string,
    clause: string,
    onSuccess: () => void = () => {},
  ): Promise<ReceivedFrame> {
    const fields = { command: Command[command], id: this.#ctx.id(), queue };
    return this.#request(client, fields, { clause, what: `${command} ${queue}`, onSuccess });
  }

  async #request(
    client: ScenarioClient,
    fields: FrameFields,
    about: { readonly clause: string; readonly what: string; readonly onSuccess?: () => void },
  ): Promise<ReceivedFrame> {
    const answer = await client.connection.request(fields, { clause: about.clause });
    const answered = (): void => {
      const isError = answer.command === Command.Error;
      this.#model.answered(isError, about);
      if (!isError) about.onSuccess?.();
    };
    await this.#quiet(about.clause, false, { frame: answer, answered });
    return answer;
  }

  /** Waits until the broker is quiet. `late`: also for messages in retry delay or backoff. */
  async #quiet(clause: string, late = false, answer?: ExpectedAnswer): Promise<void> {
    const until = this.#ctx.now() + this.#setting.deliveryMs + (late ? this.#longestPauseMs() : 0);
    await this.#absorb(clause, answer);
    for (let lookCount = 0; this.#model.due(late) !== undefined; lookCount += 1) {
      if (this.#ctx.now() >= until && lookCount >= minPollCount) break;
      await pause(pollGapMs);
      await this.#absorb(clause);
    }
    if (this.#model.due(late) !== undefined) this.#model.overdue(late);
    this.#ctx.assert.equal(this.#model.due(late)?.text, undefined, 'the delivery that is due');
    this.#model.quiet();
  }

  /** Waits for short retry delays immediately, so that no delivery comes during a later command. */
  get #waitsForPauses(): boolean {
    return this.#ctx.target.retryDelayMs <= shortPauseMs;
  }

  #longestPauseMs(): number {
    return this.#ctx.target.retryDelayMs * 2 ** 4;
  }

  /** Passes everything received on all connections to the model, in the order of arrival. */
  async #absorb(clause: string, answer?: ExpectedAnswer): Promise<void> {
    await Promise.all(this.connections.map((connection) => connection.ping()));
    const came = this.#clients.flatMap((client) => client.takeFrames().map((frame) => ({ client, frame })));
    came.sort((a, b) => a.frame.atMs - b.frame.atMs);
    for (const { client, frame } of came) {
      if (frame === answer?.frame) answer.answered();
      else if (frame.command === Command.Deliver) this.#delivered(client, frame);
      else if (frame.command !== Command.Pong && frame.command !== Command.QueueInfo)
        throw new BrokenRule({ clause, text: `${frame.commandName} ${frame.id} comes, and answers nothing` });
    }
  }

  #delivered(client: ScenarioClient, frame: ReceivedFrame): void {
    const { id, queue } = frame;
    const headers = new Map(frame.headers);
    this.#model.delivered({
      connection: client.number,
      queue,
      id,
      payload: frame.text(),
      headers,
      at: this.#at,
    });
    client.held.push({ id, queue });
  }

  #heldElsewhere(client: ScenarioClient, pick: number): HeldDelivery | undefined {
    const all = this.#clients.filter((other) => other !== client).flatMap(({ held }) => held);
    return all[pick % Math.max(1, all.length)];
  }

  /** Whether the queue exists, or is auto-created with known options. */
  #mayCreate(queue: string): boolean {
    return this.#setting.defaults !== undefined || this.#model.has(queue);
  }

  #nameOf(planned: number): string {
    return this.#ctx.queue(`${this.#setting.name}.q${planned}`);
  }

  #names(): readonly string[] {
    const planned = this.#scenario.queues.map((_, index) => this.#nameOf(index));
    const deadLetterQueues = this.#scenario.queues.map((_, index) => this.#optionsOf(index).deadLetterQueue);
    return [...planned, ...deadLetterQueues.filter((name) => name !== '')];
  }

  #optionsOf(planned: number): ModelQueueOptions {
    return optionsOf(this.#nameOf(planned), this.#scenario.queues[planned]);
  }
}

type ExpectedAnswer = { readonly frame: ReceivedFrame; readonly answered: () => void };

const ackHeaderIgnored: Difference = {
  clause: 'DELIVERY-066',
  text: 'header messageId of an Ack is ignored',
};

function ackFields(
  ctx: CheckContext,
  { id, queue }: HeldDelivery,
  form: AckForm,
): Pick<FrameFields, 'id' | 'queue' | 'headers'> {
  if (form === 'header messageId') return { id: ctx.id('ack'), headers: { messageId: id } };
  return form === 'id and queue' ? { id, queue } : { id };
}

function optionsOf(name: string, planned: PlannedQueue | undefined): ModelQueueOptions {
  if (planned === undefined) throw new Error(`the scenario plans no queue ${name}`);
  const { mode, maxQueueSize, overflowStrategy, maxRetryAttempts, deadLetters } = planned;
  const enableDeadLetterQueue = deadLetters !== 'none';
  const deadLetterQueueName = deadLetters === 'own name' ? `${name}.own-letters` : undefined;
  const deadLetterQueue = enableDeadLetterQueue ? (deadLetterQueueName ?? `${name}.dlq`) : '';
  return {
    mode,
    maxQueueSize,
    overflowStrategy,
    maxRetryAttempts,
    enableDeadLetterQueue,
    deadLetterQueue,
    deadLetterQueueName,
  };
}

function optionsOnTheWire(options: ModelQueueOptions): Readonly<Record<string, unknown>> {
  const { mode, overflowStrategy, maxQueueSize, maxRetryAttempts } = options;
  const { enableDeadLetterQueue, deadLetterQueueName } = options;
  return {
    mode: deliveryModes.indexOf(mode),
    maxQueueSize,
    overflowStrategy: overflowStrategies.indexOf(overflowStrategy),
    maxRetryAttempts,
    enableDeadLetterQueue,
    deadLetterQueueName,
  };
}

function recordOf(frame: ReceivedFrame): Readonly<Record<string, unknown>> | undefined {
  const value = frame.json();
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
}
