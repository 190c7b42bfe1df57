// The books of a simulated run, kept from the history alone: who has subscribed, which message is where for certain, which
// command is owed an answer. It judges nothing; each observation becomes a fact with its entries, and the judges look at those.

import type { BrokerSettings } from '../../broker/settings.ts';
import { Command } from '../../protocol/command.ts';
import { HeaderName } from '../../protocol/header-name.ts';
import type { Message } from '../../protocol/message.ts';
import type { Figures, Observation, SentCommand } from './history.ts';
import { bookAck, bookEarlyAcks, settleTaken } from './ledger-acks.ts';
import type {
  Copy,
  SeenCommand,
  SeenConnection,
  SeenLetter,
  SeenMessage,
  SeenQueue,
  SeenSubscription,
  Send,
} from './ledger-entries.ts';

export type Fact =
  | {
      readonly kind: 'answered';
      readonly command: SeenCommand;
      readonly frame: Message;
      readonly epoch: number;
    }
  /** A frame that answers nothing that was asked. */
  | { readonly kind: 'unasked'; readonly connection: SeenConnection; readonly frame: Message }
  | { readonly kind: 'delivered'; readonly copy: Copy; readonly send: Send; readonly frame: Message }
  /** A Deliver that fits no publish or no subscription. */
  | {
      readonly kind: 'misdelivered';
      readonly connection: SeenConnection;
      readonly frame: Message;
      readonly why: string;
    }
  | { readonly kind: 'disconnectFrame'; readonly connection: SeenConnection; readonly frame: Message }
  | { readonly kind: 'brokerEnded'; readonly connection: SeenConnection }
  | { readonly kind: 'stepped'; readonly before: Figures | undefined; readonly now: Figures }
  | Extract<Observation, { kind: 'idle' }>
  | Extract<Observation, { kind: 'draining' | 'ended' | 'faultsStopped' | 'finished' }>;

type CommandSeen = Extract<Observation, { kind: 'command' }>;

/** Answered without a frame of its own, or never. */
const unanswered: ReadonlySet<number> = new Set([Command.Ack, Command.Disconnect]);

export class Ledger {
  readonly settings: BrokerSettings;
  readonly connections = new Map<number, SeenConnection>();
  readonly messages = new Map<number, SeenMessage>();
  readonly queues = new Map<string, SeenQueue>();
  /** When each batch began, by epoch. */
  readonly batches: { readonly at: number; readonly wallAt: number }[] = [{ at: 0, wallAt: 0 }];
  figures: Figures | undefined;
  isDraining = false;
  /** Deliver frames written, and connections that may have left with some unwritten. */
  deliverFrameCount = 0;
  leftCount = 0;
  #acceptedCount = 1;
  /** Connections whose end has not been stepped for certain. */
  #ended: SeenConnection[] = [];

  constructor(settings: BrokerSettings) {
    this.settings = settings;
  }

  /** The number of the batch that began last. */
  get epoch(): number {
    return this.batches.length - 1;
  }

  batchAt(epoch: number): number {
    return this.batches[epoch]?.at ?? 0;
  }

  queue(name: string): SeenQueue {
    let queue = this.queues.get(name);
    if (queue === undefined) {
      queue = {
        name,
        info: undefined,
        peakCount: 0,
        openDeletions: 0,
        disturbedEpoch: 0,
        deleted: undefined,
      };
      this.queues.set(name, queue);
    }
    return queue;
  }

  /** Whether the queue of that name may have been another one in the batch `epoch` or since. */
  isDisturbed(name: string, epoch: number): boolean {
    const queue = this.queue(name);
    return queue.openDeletions > 0 || queue.disturbedEpoch >= epoch;
  }

  /** Books an observation; undefined where there is nothing for a judge in it. */
  book(observation: Observation): Fact | undefined {
    switch (observation.kind) {
      case 'opened':
        this.connections.set(observation.connection, newConnection(observation));
        return undefined;
      case 'command':
        this.#bookCommand(this.#connection(observation.connection), observation);
        return undefined;
      case 'clientGone':
        this.#mayLeave(this.#connection(observation.connection), true);
        return undefined;
      case 'taken':
        this.#bookTaken(this.#connection(observation.connection));
        return undefined;
      case 'batchBegan':
        this.batches.push({ at: observation.at, wallAt: observation.wallAt });
        return undefined;
      case 'batchStepped':
        return this.#bookStep(observation);
      case 'frame':
        return this.#bookFrame(
          this.#connection(observation.connection),
          observation.message,
          observation.sinceEpoch,
        );
      case 'congestion':
        return this.#bookCongestion(observation);
      case 'brokerEnded':
        return this.#bookEnd(this.#connection(observation.connection));
      case 'draining':
        this.isDraining = true;
        for (const connection of this.connections.values()) connection.hasReasonToEnd = true;
        return observation;
      case 'idle':
        this.figures = observation.figures;
        this.#bookBlocked(observation);
        return observation;
      case 'ended':
      case 'faultsStopped':
      case 'finished':
        return observation;
    }
  }

  #bookCommand(connection: SeenConnection, { command: sent, at }: CommandSeen): void {
    const command: SeenCommand = {
      connection,
      sent,
      afterEpoch: this.epoch,
      handedOverAt: at,
      order: connection.commandCount++,
      takenEpoch: undefined,
      blockedAtCount: undefined,
    };
    connection.untaken.push(command);
    if (sent.fault === 'frame') {
      connection.owesFaultAnswer = true;
      this.#mayLeave(connection, true);
      return;
    }
    if (!unanswered.has(sent.command)) connection.open.push(command);
    if (sent.fault !== undefined) return;
    if (sent.command === Command.Publish) this.#bookPublish(command);
    else if (sent.command === Command.Ack) bookAck(command);
    else if (sent.command === Command.Disconnect) this.#mayLeave(connection, true);
    else if (sent.command === Command.DeleteQueue) this.queue(sent.queue).openDeletions += 1;
    else if (sent.command === Command.Unsubscribe) {
      const subscription = connection.subscriptions.get(sent.queue);
      if (subscription !== undefined) subscription.isEnding = true;
    }
  }

  #bookPublish(command: SeenCommand): void {
    const { published, id, queue } = command.sent;
    if (published === undefined) throw new Error('A publish is written down with what it published.');
    this.messages.set(published.number, {
      published,
      id,
      queue,
      command,
      state: 'open',
      isAmbiguous: false,
      isWithdrawn: false,
      acceptedEpoch: 0,
      acceptedByEpoch: 0,
      acceptedAt: 0,
      acceptedOrder: 0,
      options: undefined,
      copies: [],
      sendCount: 0,
      letter: undefined,
    });
  }

  #bookTaken(connection: SeenConnection): void {
    for (const command of connection.untaken) {
      if (connection.isPastReading) break;
      connection.isPastReading =
        command.sent.fault === 'frame' || command.sent.command === Command.Disconnect;
      command.takenEpoch = this.epoch;
      if (command.sent.command === Command.Ack) settleTaken(command, this);
    }
    connection.untaken = [];
  }

  #bookStep({ figures, queues }: Extract<Observation, { kind: 'batchStepped' }>): Fact {
    const before = this.figures;
    this.figures = figures;
    for (const info of queues.values()) {
      const queue = this.queue(info.name);
      if (queue.info?.createdWallAt !== info.createdWallAt) queue.disturbedEpoch = this.epoch;
      queue.info = info;
      queue.peakCount = Math.max(queue.peakCount, info.messageCount);
    }
    for (const queue of this.queues.values()) {
      if (queue.info === undefined || queues.has(queue.name)) continue;
      queue.info = undefined;
      queue.disturbedEpoch = this.epoch;
    }
    this.#bookWithdrawn(figures);
    return { kind: 'stepped', before, now: figures };
  }

  #bookCongestion({
    connection: number,
    isCongested,
  }: Extract<Observation, { kind: 'congestion' }>): undefined {
    const connection = this.#connection(number);
    connection.wasCongested = true;
    connection.congestedSince = isCongested ? this.epoch : undefined;
    return undefined;
  }

  /** With nothing under way, a publish without an answer waits for room. */
  #bookBlocked({ restful, figures }: Extract<Observation, { kind: 'idle' }>): void {
    for (const number of restful) {
      for (const command of this.#connection(number).open) command.blockedAtCount = figures.publishedCount;
    }
  }

  /** What waited for room when its publisher left was not accepted, if the broker has accepted nothing meanwhile. */
  #bookWithdrawn(figures: Figures): void {
    for (const { open } of this.#ended) {
      for (const { sent, blockedAtCount } of open) {
        const message = this.messages.get(sent.published?.number ?? -1);
        if (message !== undefined && blockedAtCount === figures.publishedCount) message.isWithdrawn = true;
      }
    }
    this.#ended = [];
  }

  #bookFrame(connection: SeenConnection, frame: Message, epoch: number): Fact {
    if (frame.command === Command.Deliver) return this.#bookDelivery(connection, frame, epoch);
    if (frame.command === Command.Disconnect) {
      connection.wasToldOfEnd = true;
      return { kind: 'disconnectFrame', connection, frame };
    }
    const candidates = connection.open.filter(({ sent }) => isAnswer(sent, frame));
    const [command] = candidates;
    if (command === undefined) return { kind: 'unasked', connection, frame };
    for (const { sent } of candidates.length > 1 ? candidates : []) {
      const message = this.messages.get(sent.published?.number ?? -1);
      if (message !== undefined) message.isAmbiguous = true;
    }
    connection.open = connection.open.filter((other) => other !== command);
    this.#bookAnswer(command, frame, epoch);
    return { kind: 'answered', command, frame, epoch };
  }

  #bookAnswer(command: SeenCommand, frame: Message, epoch: number): void {
    const { connection, sent } = command;
    const isPositive = frame.command !== Command.Error;
    if (sent.fault !== undefined) return;
    switch (sent.command) {
      case Command.Connect:
        connection.isConnected ||= isPositive;
        return;
      case Command.Publish:
        return this.#bookPublishAnswer(sent, isPositive, epoch);
      case Command.Subscribe:
        if (isPositive && !connection.subscriptions.has(sent.queue))
          connection.subscriptions.set(sent.queue, newSubscription(connection, sent, epoch));
        return;
      case Command.Unsubscribe:
        return this.#endSubscription(connection, sent.queue, isPositive);
      case Command.DeleteQueue: {
        const queue = this.queue(sent.queue);
        queue.openDeletions -= 1;
        if (!isPositive) return;
        queue.disturbedEpoch = this.epoch;
        queue.deleted = { epoch: this.epoch, afterEpoch: command.afterEpoch };
      }
    }
  }

  #bookPublishAnswer(sent: SentCommand, isPositive: boolean, epoch: number): void {
    const message = this.messages.get(sent.published?.number ?? -1);
    if (message === undefined) return;
    const state = isPositive ? 'accepted' : 'refused';
    message.state = message.isAmbiguous ? 'unanswered' : state;
    message.acceptedEpoch = epoch;
    message.acceptedByEpoch = this.epoch;
    message.acceptedAt = this.batchAt(this.epoch);
    message.acceptedOrder = this.#acceptedCount++;
    if (!this.isDisturbed(message.queue, epoch)) message.options = this.queue(message.queue).info?.options;
  }

  #endSubscription(connection: SeenConnection, queue: string, isPositive: boolean): void {
    const subscription = connection.subscriptions.get(queue);
    if (!isPositive || subscription === undefined) return;
    subscription.isEnding = true;
    subscription.hasEnded = true;
    connection.subscriptions.delete(queue);
  }

  #bookDelivery(connection: SeenConnection, frame: Message, epoch: number): Fact {
    this.deliverFrameCount += 1;
    const message = this.messages.get(Number(frame.headers.get('number') ?? -1));
    const subscription = connection.subscriptions.get(frame.queue);
    const misdelivered = (why: string): Fact => ({ kind: 'misdelivered', connection, frame, why });
    if (message === undefined) return misdelivered('nobody published it');
    if (subscription === undefined) return misdelivered('the connection has no subscription to the queue');
    const isDeadLetter = frame.headers.has(HeaderName.DeadLetterReason);
    const key = `${message.published.number} ${frame.queue} ${isDeadLetter}`;
    let copy = connection.copies.get(key);
    if (copy === undefined || copy.subscription !== subscription) {
      copy = {
        message,
        subscription,
        queue: frame.queue,
        isDeadLetter,
        sends: [],
        judgements: [],
        settledEpoch: undefined,
        wasRefusedForGood: false,
      };
      connection.copies.set(key, copy);
      subscription.copies.add(copy);
      (isDeadLetter ? this.#letterOf(message, frame).copies : message.copies).push(copy);
    }
    if (isDeadLetter) this.#letterOf(message, frame).sendCount += 1;
    else message.sendCount += 1;
    const attempt = Number(frame.headers.get(HeaderName.DeliveryAttempts) ?? 1);
    const send = {
      epoch,
      byEpoch: this.epoch,
      at: this.batchAt(epoch),
      byAt: this.batchAt(this.epoch),
      attempt,
    };
    copy.sends.push(send);
    bookEarlyAcks(copy, epoch);
    return { kind: 'delivered', copy, send, frame };
  }

  #letterOf(message: SeenMessage, { queue, headers }: Message): SeenLetter {
    message.letter ??= {
      queue,
      reason: headers.get(HeaderName.DeadLetterReason) ?? '',
      source: headers.get(HeaderName.DeadLetterSource) ?? '',
      attempts: Number(headers.get(HeaderName.DeadLetterAttempts)),
      wallAt: Date.parse(headers.get(HeaderName.DeadLetteredAt) ?? ''),
      copies: [],
      sendCount: 0,
    };
    return message.letter;
  }

  #mayLeave(connection: SeenConnection, hasReason: boolean): void {
    if (connection.leavingSince === undefined) {
      connection.leavingSince = this.epoch;
      this.leftCount += 1;
    }
    connection.hasReasonToEnd ||= hasReason;
  }

  /** What it has not been answered stays open for good: nobody can tell what became of it. */
  #bookEnd(connection: SeenConnection): Fact | undefined {
    if (connection.hasEnded) return undefined;
    connection.hasEnded = true;
    connection.endedEpoch = this.epoch;
    this.#ended.push(connection);
    this.#mayLeave(connection, false);
    for (const { sent } of connection.open) {
      const message = this.messages.get(sent.published?.number ?? -1);
      if (message !== undefined) message.state = 'unanswered';
      if (sent.command !== Command.DeleteQueue || sent.fault !== undefined) continue;
      // It may be among the inputs of the next batch, if one is being committed.
      const queue = this.queue(sent.queue);
      queue.openDeletions -= 1;
      queue.disturbedEpoch = this.epoch + 1;
    }
    for (const subscription of connection.subscriptions.values()) subscription.hasEnded = true;
    return { kind: 'brokerEnded', connection };
  }

  #connection(number: number): SeenConnection {
    const connection = this.connections.get(number);
    if (connection === undefined) throw new Error(`Connection ${number} was never opened.`);
    return connection;
  }
}

/** Answers carry the queue of their command; an Error that has looked at less than that carries none. */
function isAnswer({ command, id, queue }: SentCommand, frame: Message): boolean {
  if (id !== frame.id || (frame.queue !== '' && frame.queue !== queue)) return false;
  if (frame.command === Command.Error) return true;
  const isRequestWithAck = command <= Command.Unsubscribe;
  return frame.command === (isRequestWithAck ? command + 1 : command);
}

function newConnection({ connection, isSilent }: Extract<Observation, { kind: 'opened' }>): SeenConnection {
  return {
    number: connection,
    open: [],
    untaken: [],
    recentAcks: [],
    subscriptions: new Map(),
    copies: new Map(),
    leavingSince: undefined,
    hasReasonToEnd: isSilent,
    wasToldOfEnd: false,
    isConnected: false,
    isPastReading: false,
    commandCount: 0,
    hasEnded: false,
    wasCongested: false,
    congestedSince: undefined,
    endedEpoch: undefined,
    owesFaultAnswer: false,
  };
}

function newSubscription(
  connection: SeenConnection,
  sent: SentCommand,
  startedEpoch: number,
): SeenSubscription {
  return {
    connection,
    queue: sent.queue,
    maxInFlight: sent.maxInFlight,
    startedEpoch,
    isEnding: false,
    hasEnded: false,
    copies: new Set(),
  };
}
