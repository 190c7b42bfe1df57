// A client of the simulation: publishes, subscribes, acknowledges and misbehaves with the weights of its plan, leaves and returns. The seed
// determines its actions; received messages only determine its acks.

import { OverflowStrategy } from '../../model/overflow-strategy.ts';
import { Command } from '../../protocol/command.ts';
import { type Message, noPayload } from '../../protocol/message.ts';
import { publishHeaders } from './client-wire.ts';
import type { ConnectionEnd } from './connection-end.ts';
import type { SentCommand } from './history.ts';
import { type ActionName, type ClientPlan, deadLetterNameOf, drawQueueOptions } from './plan.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

/** What the clients of a run share. */
export type Company = {
  readonly world: World;
  /** Publishes made lately, to be repeated. */
  readonly published: { readonly id: string; readonly queue: string }[];
  /** Other clients, for acks from the wrong one. */
  readonly clients: SimulatedClient[];
  /** Whether misbehaviour has stopped. */
  hasCalmedDown: boolean;
  actionsLeft: number;
};

export class SimulatedClient {
  readonly #name: string;
  readonly #plan: ClientPlan;
  readonly #company: Company;
  readonly #random: Random;
  #end: ConnectionEnd | undefined;
  #nextId = 1;

  constructor(name: string, plan: ClientPlan, company: Company) {
    this.#name = name;
    this.#plan = plan;
    this.#company = company;
    this.#random = company.world.random.fork();
  }

  /** Connects now, subscribes, and goes on acting until the run has had enough. */
  start(): void {
    this.#connect();
    this.#actLater();
  }

  /** Leaves for good, if there is one more thing to misbehave with. */
  leave(): void {
    this.#end?.socket.breakByClient();
  }

  /** Stops misbehaving. */
  calmDown(): void {
    this.#end?.socket.setStalled(false);
  }

  send(command: SentCommand): void {
    this.#end?.send(command);
  }

  subscribe(queue: string, maxInFlight?: number): void {
    const id = this.#freshId();
    this.send({
      command: Command.Subscribe,
      id,
      queue,
      ...(maxInFlight === undefined ? {} : { maxInFlight }),
    });
  }

  createQueue(queue: string, options: SentCommand['options']): void {
    const id = this.#freshId();
    this.send({ command: Command.CreateQueue, id, queue, ...(options === undefined ? {} : { options }) });
  }

  #connect(): void {
    const { world, hasCalmedDown } = this.#company;
    if (hasCalmedDown) return;
    const end: ConnectionEnd = world.open(false, this.#plan.compression, {
      frame: (message) => this.#receive(message, end),
      end: () => this.#ended(end),
    });
    this.#end = end;
    end.send({ command: Command.Connect, id: this.#freshId(), queue: '' });
    for (const queue of this.#plan.subscribesTo) this.subscribe(queue, this.#plan.maxInFlight);
  }

  #ended(end: ConnectionEnd): void {
    end.socket.endByClient();
    if (this.#end !== end) return;
    this.#end = undefined;
    this.#company.world.environment.after(this.#random.whole(1, 300), () => this.#connect());
  }

  #actLater(): void {
    const { world } = this.#company;
    world.environment.after(this.#random.whole(1, this.#plan.maxPauseMs), () => {
      if (this.#company.hasCalmedDown || this.#company.actionsLeft <= 0) return;
      // Does nothing while no broker serves.
      if (world.isServing) this.#act(this.#random.weighted(this.#plan.actions));
      this.#actLater();
    });
  }

  #act(action: ActionName): void {
    this.#company.actionsLeft -= 1;
    const { tally } = this.#company.world;
    const end = this.#end;
    if (end === undefined) return;
    switch (action) {
      case 'publish':
        for (let left = this.#random.whole(1, this.#plan.maxBurst); left > 0; left -= 1) this.#publish();
        return;
      case 'repeat':
        return this.#repeat();
      case 'subscribe':
        return this.subscribe(this.#anyQueue(), this.#plan.maxInFlight);
      case 'unsubscribe':
        tally.fault('unsubscribed');
        return this.#ask(
          Command.Unsubscribe,
          this.#random.pick([...this.#plan.subscribesTo, this.#anyQueue()]),
        );
      case 'createQueue':
        return this.#createAny();
      case 'deleteQueue':
        tally.fault('queue deleted');
        return this.#deleteAny();
      case 'purgeQueue':
        tally.fault('queue purged');
        return this.#company.world.purge(this.#anyQueue());
      case 'queueInfo':
        return this.#ask(Command.QueueInfo, this.#anyQueue());
      case 'listQueues':
        return this.#ask(Command.ListQueues, '');
      case 'ping':
        return this.#ask(Command.Ping, '');
      case 'ackNothing':
        tally.fault('ack of nothing');
        return end.send({ command: Command.Ack, id: 'nobody', queue: '' });
      default:
        this.#fail(action, end);
    }
  }

  #fail(
    action: 'stall' | 'breakLine' | 'endSide' | 'disconnect' | 'breakBody' | 'breakFrame',
    end: ConnectionEnd,
  ): void {
    const { world } = this.#company;
    switch (action) {
      case 'stall':
        world.tally.fault('client stops reading');
        end.socket.setStalled(true);
        world.environment.after(this.#random.whole(10, 2500), () => end.socket.setStalled(false));
        return;
      case 'breakLine':
        world.tally.fault('connection breaks');
        end.socket.breakByClient();
        return;
      case 'endSide':
        world.tally.fault('client ends its side');
        end.socket.endByClient();
        return;
      case 'disconnect':
        world.tally.fault('client disconnects');
        return this.#ask(Command.Disconnect, '');
      case 'breakBody':
        world.tally.fault('frame with broken layout');
        end.send({ command: Command.Ping, id: this.#freshId(), queue: '', fault: 'body' });
        return;
      case 'breakFrame':
        world.tally.fault('frame with broken header');
        end.send({ command: Command.Ping, id: this.#freshId(), queue: '', fault: 'frame' });
    }
  }

  #publish(): void {
    const queue = this.#random.pick(this.#company.world.plan.queues).name;
    const id = `${this.#name}-m${this.#nextId++}`;
    this.#company.published.push({ id, queue });
    this.#sendPublish(id, queue);
  }

  /** The same id again, with content of its own. */
  #repeat(): void {
    const { published, world } = this.#company;
    const first = published.at(-this.#random.whole(1, 8));
    if (first === undefined) return;
    world.tally.fault('publish repeated');
    // The same id in another queue is another message.
    const isTwin = this.#random.chance(0.3);
    this.#sendPublish(first.id, isTwin ? this.#random.pick(world.plan.queues).name : first.queue);
  }

  #sendPublish(id: string, queue: string): void {
    const { world } = this.#company;
    const number = world.nextNumber();
    const priority = this.#random.chance(0.5) ? 1 : this.#random.whole(0, 3);
    const more = this.#random.chance(0.2) ? new Map([['correlationId', `of ${id}`]]) : new Map();
    const length = this.#random.chance(0.25) ? this.#random.whole(100, 400) : 0;
    const payload = this.#random.chance(0.1)
      ? noPayload
      : Buffer.from(JSON.stringify({ number, text: 'x'.repeat(length) }));
    const headers = publishHeaders(number, priority, more);
    this.send({ command: Command.Publish, id, queue, published: { number, priority, payload, headers } });
    const options = world.checkers.ledger.queue(queue).info?.options;
    if (options !== undefined) world.tally.pair(options);
  }

  #createAny(): void {
    const { world } = this.#company;
    const { name, options } = this.#random.pick(world.plan.queues);
    const mode = options.mode;
    this.createQueue(name, this.#random.chance(0.5) ? options : drawQueueOptions(this.#random, mode, [2, 5]));
  }

  /** Often it is made anew at once, while what was in it is still under way. */
  #deleteAny(): void {
    const queue = this.#anyQueue();
    this.#ask(Command.DeleteQueue, queue);
    const plan = this.#company.world.plan.queues.find(({ name }) => name === queue);
    if (plan === undefined || this.#random.chance(0.3)) return;
    this.#company.world.tally.fault('queue created anew');
    this.createQueue(queue, plan.options);
  }

  #ask(command: number, queue: string): void {
    this.send({ command, id: this.#freshId(), queue });
  }

  #anyQueue(): string {
    const { name, options } = this.#random.pick(this.#company.world.plan.queues);
    const hasLetters =
      options.enableDeadLetterQueue || options.overflowStrategy === OverflowStrategy.RedirectToDlq;
    return hasLetters && this.#random.chance(0.3) ? deadLetterNameOf(name, options) : name;
  }

  #receive(message: Message, end: ConnectionEnd): void {
    const { tally } = this.#company.world;
    if (message.command === Command.ConnectAck) end.connected();
    if (message.errorCode === 'RATE_LIMITED') tally.fault('rate exceeded');
    if (message.command === Command.Deliver) this.#answer(message, end);
  }

  #answer(message: Message, end: ConnectionEnd): void {
    const { hasCalmedDown, world, clients } = this.#company;
    const { tally, plan } = world;
    const { ackTimeoutMs } = plan.options.broker;
    const queue = this.#random.chance(0.5) ? message.queue : '';
    const ack: SentCommand = { command: Command.Ack, id: message.id, queue };
    const later = (minMs: number, maxMs: number, sent: SentCommand): void => {
      world.environment.after(this.#random.whole(minMs, maxMs), () => end.send(sent));
    };
    if (hasCalmedDown) {
      end.send({ ...ack, queue: message.queue });
      return;
    }
    switch (this.#random.weighted(this.#plan.acks)) {
      case 'atOnce':
        return end.send(ack);
      case 'soon':
        return later(0, ackTimeoutMs / 2, ack);
      case 'justInTime':
        tally.fault('ack just in time');
        return later(ackTimeoutMs * 0.8, ackTimeoutMs * 1.1, ack);
      case 'tooLate':
        tally.fault('ack too late');
        return later(ackTimeoutMs, ackTimeoutMs * 3, ack);
      case 'never':
        tally.fault('no ack');
        return;
      case 'twice':
        tally.fault('ack twice');
        end.send(ack);
        return later(0, 300, ack);
      case 'stray':
        tally.fault('ack from another connection');
        return this.#random.pick(clients).send(ack);
      case 'fails':
        tally.fault('handler fails');
        return later(0, ackTimeoutMs / 2, { ...ack, failureReason: 'HandlerException' });
      case 'notUnderstood':
        tally.fault('payload not understood');
        return later(0, ackTimeoutMs * 1.3, { ...ack, failureReason: 'DeserializationError' });
    }
  }

  #freshId(): string {
    return `${this.#name}-${this.#nextId++}`;
  }
}
