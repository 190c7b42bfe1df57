// Plays a scenario against the broker, one command after another, and shows the model all that comes. After each command it waits
// until all is quiet: every connection has answered a Ping, and the model waits for nothing. So nothing depends on how fast the
// broker is. It sends what the scenario says and judges nothing itself.
import { setTimeout as pause } from 'node:timers/promises';
import type { CheckContext } from '../check.ts';
import type { Connection } from '../connection.ts';
import { deliveryModes } from '../history/operation.ts';
import { Command } from '../wire/command.ts';
import type { FrameFields, ReceivedFrame } from '../wire/frame.ts';
import { BrokenRule, BrokerModel } from './broker-model.ts';
import type { AckForm, ModelCommand, PlannedQueue, Scenario } from './command.ts';
import { overflowStrategies } from './command.ts';
import type { Held } from './seat.ts';
import { Seat } from './seat.ts';
import type { Content, Difference, QueueOptions } from './state.ts';

export type PlayerSetting = {
  /** How long a delivery that is owed is waited for. */
  readonly deliveryMs: number;
  /** What a queue made on demand is like; undefined: scenarios rely on none. */
  readonly defaults: QueueOptions | undefined;
  /** A connection for a place. */
  readonly connect: () => Promise<Connection>;
  /** Recommendations that the broker is known to have decided otherwise. */
  readonly known: ReadonlySet<string>;
  /** Tells this play's names from those of others. */
  readonly name: string;
};

const lookGapMs = 5;
/** What is held longer than this share of the ack timeout may be taken for overdue: timers may fire early. */
const longestPlay = 0.5;
/** Nothing is missed before the broker has answered as many Pings on every connection since: on a busy machine that takes longer. */
const leastLooks = 100;
const shortPauseMs = 100;
const priorities = ['Low', 'Normal', 'High', 'Critical'];

export class Player {
  readonly #ctx: CheckContext;
  readonly #scenario: Scenario;
  readonly #setting: PlayerSetting;
  readonly #model: BrokerModel;
  readonly #seats: Seat[] = [];
  /** Ids published to each queue of the plan. */
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
    this.#until = ctx.now() + ctx.target.ackTimeoutMs * longestPlay;
  }

  /** Whether it was given up, because the broker may have gone too many ways, or deliveries were held for too long. */
  get isGivenUp(): boolean {
    return this.#model.isLost || this.#isTooLong;
  }

  /** The connections in their places, for another play. */
  get connections(): readonly Connection[] {
    return this.#seats.map(({ connection }) => connection);
  }

  /** Throws a BrokenRule, or an ExpectationFailure where an answer does not come. Returns what was decided otherwise. */
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
      this.#seats.push(new Seat(await this.#setting.connect(), this.#nextNumber()));
    for (const command of this.#scenario.commands) {
      this.#at += 1;
      await this.#carryOut(command);
      this.#isTooLong = this.#ctx.now() >= this.#until;
      if (this.isGivenUp) return [];
    }
    await this.#drain();
    return this.#model.differences;
  }

  /** Ends the subscriptions and removes the queues, so that the connections can be used again. Any answer will do. */
  async leaveClean(): Promise<void> {
    const [first] = this.#seats;
    for (const { connection, subscriptions } of this.#seats) {
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
    const seat = this.#seats[command.by];
    if (seat === undefined) return;
    switch (command.kind) {
      case 'publish':
        return this.#publish(seat, command);
      case 'subscribe':
        return this.#subscribe(seat, this.#nameOf(command.queue));
      case 'subscribeLetters':
        return this.#subscribeLetters(seat, command.queue);
      case 'unsubscribe':
        return this.#unsubscribe(seat, this.#nameOf(command.queue));
      case 'ack':
        return this.#ack(seat, seat.heldAt(command.pick), command.form);
      case 'ackAgain':
        return this.#ack(seat, seat.acknowledgedAt(command.pick), 'id');
      case 'ackForeign':
        return this.#ack(seat, this.#heldElsewhere(seat, command.pick), 'id');
      case 'nack':
        return this.#nack(seat, command);
      case 'create':
        return this.#create(seat, command);
      case 'delete':
        return this.#delete(seat, this.#nameOf(command.queue));
      case 'info':
        return this.#info(seat, this.#nameOf(command.queue));
      case 'list':
        return this.#list(seat);
      case 'leave':
        return this.#leave(seat, command.how);
    }
  }

  async #publish(seat: Seat, command: Extract<ModelCommand, { kind: 'publish' }>): Promise<void> {
    const queue = this.#nameOf(command.queue);
    if (!this.#mayMake(queue)) return;
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
    this.#model.publish({ queue, content, publisher: seat.number, at: this.#at });
    const fields = { command: Command.Publish, id, queue, payload: command.payload, headers };
    await this.#request(seat, fields, { clause: 'PUBLISH-001', what: `Publish ${id} to ${queue}` });
  }

  async #subscribe(seat: Seat, queue: string): Promise<void> {
    if (!this.#mayMake(queue) && !this.#model.mayHave(queue)) return;
    this.#model.subscribe(seat.number, queue);
    const subscribed = (): void => {
      this.#model.subscribed(seat.number, queue);
      seat.subscriptions.add(queue);
    };
    await this.#command(seat, 'Subscribe', queue, 'DELIVERY-069', subscribed);
  }

  async #subscribeLetters(seat: Seat, planned: number): Promise<void> {
    const options = this.#optionsOf(planned);
    if (options.enableDeadLetterQueue && this.#model.mayHave(options.deadLetterQueue))
      await this.#subscribe(seat, options.deadLetterQueue);
  }

  async #unsubscribe(seat: Seat, queue: string): Promise<void> {
    if (!seat.subscriptions.delete(queue)) return;
    this.#model.unsubscribe(seat.number, queue, this.#at);
    await this.#command(seat, 'Unsubscribe', queue, 'DELIVERY-061');
  }

  async #ack(seat: Seat, held: Held | undefined, form: AckForm): Promise<void> {
    if (held === undefined) return;
    const { id, queue } = held;
    const named = { connection: seat.number, id, queue: form === 'id and queue' ? queue : undefined };
    this.#model.acknowledge(
      { ...named, at: this.#at },
      form === 'header messageId' ? headerUnread : undefined,
    );
    seat.letGo(held);
    seat.acknowledged.push(held);
    await seat.connection.send({ command: Command.Ack, ...ackFields(this.#ctx, held, form) });
    await this.#quiet('DELIVERY-058');
  }

  async #nack(
    seat: Seat,
    { pick, reason }: { readonly pick: number; readonly reason: 'HandlerException' | 'DeserializationError' },
  ): Promise<void> {
    const held = seat.heldAt(pick);
    if (held === undefined) return;
    this.#model.refuse(seat.number, held.id, reason, this.#at);
    seat.letGo(held);
    await seat.connection.send({ command: Command.Ack, id: held.id, headers: { failureReason: reason } });
    await this.#quiet('NACK-010', this.#waitsForPauses);
  }

  async #create(seat: Seat, { queue, as }: Extract<ModelCommand, { kind: 'create' }>): Promise<void> {
    const name = this.#nameOf(queue);
    const planned = this.#optionsOf(queue);
    const options =
      as === 'other options' ? { ...planned, maxRetryAttempts: planned.maxRetryAttempts + 1 } : planned;
    const isBare = as === 'no options';
    if (isBare && !this.#mayMake(name)) return;
    this.#model.create(name, isBare ? (this.#setting.defaults ?? options) : options, isBare);
    const payload = isBare ? {} : { payload: JSON.stringify(optionsOnTheWire(options)) };
    const fields = { command: Command.CreateQueue, id: this.#ctx.id(), queue: name, ...payload };
    await this.#request(seat, fields, { clause: 'QUEUE-001', what: `CreateQueue ${name}` });
    // Whether there are dead letters yet, and under what name, is asked at once: all that follows is followed once only.
    const { deadLetterQueue } = planned;
    if (this.#model.mayHave(deadLetterQueue) && !this.#model.has(deadLetterQueue)) await this.#list(seat);
  }

  async #delete(seat: Seat, queue: string): Promise<void> {
    this.#model.delete(queue, this.#at);
    await this.#command(seat, 'DeleteQueue', queue, 'QUEUE-014');
  }

  async #info(seat: Seat, queue: string): Promise<void> {
    this.#model.ask();
    const info = await this.#command(seat, 'QueueInfo', queue, 'QUEUE-021');
    this.#model.info(queue, recordOf(info));
  }

  async #list(seat: Seat): Promise<void> {
    this.#model.ask();
    const answer = await this.#command(seat, 'ListQueues', '', 'QUEUE-028');
    const names = answer.json();
    this.#model.list(Array.isArray(names) ? names.map(String) : [], this.#names());
  }

  /** Leaves, and waits until the broker has noticed it wherever the connection had subscribed. */
  async #leave(seat: Seat, how: 'reset' | 'Disconnect'): Promise<void> {
    const left = [...seat.subscriptions];
    this.#model.leave(seat.number, this.#at);
    if (how === 'reset') await seat.connection.abort();
    else {
      await seat.connection.disconnect();
      await seat.connection.closed();
    }
    seat.follow(await this.#ctx.connect({ own: true }), this.#nextNumber());
    for (const queue of left) await this.#waitForLeaving(seat.connection, queue);
    await this.#quiet('DELIVERY-038', this.#waitsForPauses);
  }

  async #waitForLeaving(witness: Connection, queue: string): Promise<void> {
    const from = this.#ctx.now();
    const until = from + this.#setting.deliveryMs;
    const [likeliest, ...others] = this.#model.subscriberCounts(queue);
    for (;;) {
      const info = await witness.queueInfo(queue);
      const count = info?.['subscriberCount'];
      if (count === likeliest) return;
      // On another way the broker may count as many before it has noticed the end: it is given the time to.
      if (others.includes(count) && this.#ctx.now() >= from + this.#ctx.timing.silenceMs) return;
      const text = `${queue} counts ${info?.['subscriberCount']} subscribers, one of whom has left`;
      if (this.#ctx.now() >= until) throw new BrokenRule({ clause: 'QUEUE-026', text });
      await pause(lookGapMs);
    }
  }

  /** Everything is subscribed to, taken and acknowledged; then nothing may be left, and nothing may be owed. */
  async #drain(): Promise<void> {
    const [first] = this.#seats;
    if (first === undefined) return;
    for (let isDry = false; !isDry && !this.#model.isLost; ) {
      this.#at += 1;
      const unserved = this.#model.unserved();
      for (const queue of unserved) await this.#subscribe(first, queue);
      const held = this.#seats.flatMap((seat) => seat.held.map((one) => ({ seat, one })));
      for (const { seat, one } of held) await this.#ack(seat, one, 'id');
      if (unserved.length === 0 && held.length === 0) await this.#quiet('DELIVERY-006', true);
      isDry =
        unserved.length === 0 && this.#seats.every((seat) => seat.held.length === 0) && held.length === 0;
    }
    for (const name of this.#names()) if (this.#model.mayHave(name)) await this.#info(first, name);
  }

  #command(
    seat: Seat,
    command: 'Subscribe' | 'Unsubscribe' | 'DeleteQueue' | 'QueueInfo' | 'ListQueues',
    queue: string,
    clause: string,
    onSuccess: () => void = () => {},
  ): Promise<ReceivedFrame> {
    const fields = { command: Command[command], id: this.#ctx.id(), queue };
    return this.#request(seat, fields, { clause, what: `${command} ${queue}`, onSuccess });
  }

  async #request(
    seat: Seat,
    fields: FrameFields,
    about: { readonly clause: string; readonly what: string; readonly onSuccess?: () => void },
  ): Promise<ReceivedFrame> {
    const answer = await seat.connection.request(fields, { clause: about.clause });
    const answered = (): void => {
      const isError = answer.command === Command.Error;
      this.#model.answered(isError, about);
      if (!isError) about.onSuccess?.();
    };
    await this.#quiet(about.clause, false, { frame: answer, answered });
    return answer;
  }

  /** Waits until nothing is under way. `late`: also for what pauses or rests. */
  async #quiet(clause: string, late = false, answer?: ExpectedAnswer): Promise<void> {
    const until = this.#ctx.now() + this.#setting.deliveryMs + (late ? this.#longestPauseMs() : 0);
    await this.#absorb(clause, answer);
    for (let lookCount = 0; this.#model.owed(late) !== undefined; lookCount += 1) {
      if (this.#ctx.now() >= until && lookCount >= leastLooks) break;
      await pause(lookGapMs);
      await this.#absorb(clause);
    }
    if (this.#model.owed(late) !== undefined) this.#model.overdue(late);
    this.#ctx.assert.ok(this.#model.owed(late) === undefined, 'nothing is owed to anybody');
    this.#model.quiet();
  }

  /** Where pauses are short they are waited for at once: then nothing comes by itself while something else is done. */
  get #waitsForPauses(): boolean {
    return this.#ctx.target.retryDelayMs <= shortPauseMs;
  }

  #longestPauseMs(): number {
    return this.#ctx.target.retryDelayMs * 2 ** 4;
  }

  /** Shows the model everything that has come on all connections, in the order of its coming. */
  async #absorb(clause: string, answer?: ExpectedAnswer): Promise<void> {
    await Promise.all(this.connections.map((connection) => connection.ping()));
    const came = this.#seats.flatMap((seat) => seat.takeFrames().map((frame) => ({ seat, frame })));
    came.sort((a, b) => a.frame.atMs - b.frame.atMs);
    for (const { seat, frame } of came) {
      if (frame === answer?.frame) answer.answered();
      else if (frame.command === Command.Deliver) this.#delivered(seat, frame);
      else if (frame.command !== Command.Pong && frame.command !== Command.QueueInfo)
        throw new BrokenRule({ clause, text: `${frame.commandName} ${frame.id} comes, and answers nothing` });
    }
  }

  #delivered(seat: Seat, frame: ReceivedFrame): void {
    const { id, queue } = frame;
    const headers = new Map(frame.headers);
    this.#model.delivered({
      connection: seat.number,
      queue,
      id,
      payload: frame.text(),
      headers,
      at: this.#at,
    });
    seat.held.push({ id, queue });
  }

  #heldElsewhere(seat: Seat, pick: number): Held | undefined {
    const all = this.#seats.filter((other) => other !== seat).flatMap(({ held }) => held);
    return all[pick % Math.max(1, all.length)];
  }

  /** Whether the queue is there, or a command makes it in a way that is known. */
  #mayMake(queue: string): boolean {
    return this.#setting.defaults !== undefined || this.#model.has(queue);
  }

  #nameOf(planned: number): string {
    return this.#ctx.queue(`${this.#setting.name}.q${planned}`);
  }

  #names(): readonly string[] {
    const planned = this.#scenario.queues.map((_, index) => this.#nameOf(index));
    const letters = this.#scenario.queues.map((_, index) => this.#optionsOf(index).deadLetterQueue);
    return [...planned, ...letters.filter((name) => name !== '')];
  }

  #optionsOf(planned: number): QueueOptions {
    return optionsOf(this.#nameOf(planned), this.#scenario.queues[planned]);
  }
}

type ExpectedAnswer = { readonly frame: ReceivedFrame; readonly answered: () => void };

const headerUnread: Difference = {
  clause: 'DELIVERY-066',
  text: 'header messageId of an Ack is not read',
};

function ackFields(
  ctx: CheckContext,
  { id, queue }: Held,
  form: AckForm,
): Pick<FrameFields, 'id' | 'queue' | 'headers'> {
  if (form === 'header messageId') return { id: ctx.id('ack'), headers: { messageId: id } };
  return form === 'id and queue' ? { id, queue } : { id };
}

function optionsOf(name: string, planned: PlannedQueue | undefined): QueueOptions {
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

function optionsOnTheWire(options: QueueOptions): Readonly<Record<string, unknown>> {
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
