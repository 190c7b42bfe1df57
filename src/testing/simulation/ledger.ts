// The ledger of a simulated run, built from the history alone: subscriptions, the certain place of each message, unanswered commands. It
// checks nothing; each observation becomes a fact with its entries for the checkers.

import type { BrokerSettings } from '../../broker/interface/settings.ts';
import { Command } from '../../protocol/command.ts';
import type { Message } from '../../protocol/message.ts';
import type { Figures, Observation } from './history.ts';
import { bookAck, settleTaken } from './ledger-acks.ts';
import {
  type Copy,
  newConnection,
  newMessage,
  type SeenCommand,
  type SeenConnection,
  type SeenMessage,
  type SeenQueue,
  type Send,
} from './ledger-entries.ts';
import { bookFrame } from './ledger-frames.ts';
import { inherit } from './ledger-lives.ts';

export type Fact =
  | {
      readonly kind: 'answered';
      readonly command: SeenCommand;
      readonly frame: Message;
      readonly epoch: number;
    }
  /** A frame that answers no command. */
  | { readonly kind: 'unasked'; readonly connection: SeenConnection; readonly frame: Message }
  | { readonly kind: 'delivered'; readonly copy: Copy; readonly send: Send; readonly frame: Message }
  /** A Deliver of a broker that lost its store afterwards. */
  | { readonly kind: 'deliveredUnserved'; readonly connection: SeenConnection; readonly frame: Message }
  /** A Deliver without a matching publish or subscription. */
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
  | Extract<
      Observation,
      { kind: 'draining' | 'ended' | 'lifeEnded' | 'serving' | 'faultsStopped' | 'finished' }
    >;

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
  /** From when on the draining may be over, with whatever is still held. */
  drainedAt = Number.POSITIVE_INFINITY;
  /** From the end of one life of the broker until the next one takes clients. */
  isBetweenLives = false;
  /** The last batch before this life took clients. */
  bornEpoch = 0;
  /** Deliver frames written, and connections that may have left with some unwritten. */
  deliverFrameCount = 0;
  leftCount = 0;
  #acceptedCount = 0;
  /** Connections whose end has not been stepped for certain. */
  #ended: SeenConnection[] = [];

  readonly #shutdownTimeoutMs: number;

  constructor(settings: BrokerSettings, shutdownTimeoutMs: number) {
    this.settings = settings;
    this.#shutdownTimeoutMs = shutdownTimeoutMs;
  }

  /** The number of the batch that began last. */
  get epoch(): number {
    return this.batches.length - 1;
  }

  batchAt(epoch: number): number {
    return this.batches[epoch]?.at ?? 0;
  }

  /** Counts the answers to publishes, from 1. */
  nextAcceptedOrder(): number {
    this.#acceptedCount += 1;
    return this.#acceptedCount;
  }

  queue(name: string): SeenQueue {
    let queue = this.queues.get(name);
    if (queue === undefined) {
      queue = {
        name,
        info: undefined,
        peakCount: 0,
        openDeletions: 0,
        openPurges: 0,
        purgedEpoch: 0,
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

  /** Whether a message accepted in the batch `epoch` may have been taken by a purge of the queue. */
  mayBePurged(name: string, epoch: number): boolean {
    const queue = this.queue(name);
    return queue.openPurges > 0 || queue.purgedEpoch >= epoch;
  }

  /** Begins a new life: the state of messages and queues is unknown until it is observed. */
  beginAnew(): void {
    this.isDraining = false;
    this.drainedAt = Number.POSITIVE_INFINITY;
    this.isBetweenLives = true;
    this.deliverFrameCount = 0;
    this.leftCount += 1;
    this.#ended = [];
    for (const connection of this.connections.values()) {
      connection.isPastReading = true;
      this.#mayLeave(connection, true);
      for (const command of connection.open) command.blockedAtCount = undefined;
    }
    inherit(this);
  }

  /** Records an observation; undefined if it is no fact for the checkers. */
  book(observation: Observation): Fact | undefined {
    switch (observation.kind) {
      case 'opened':
        this.#bookOpened(observation);
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
        return bookFrame(
          this,
          this.#connection(observation.connection),
          observation.message,
          observation.sinceEpoch,
        );
      case 'purgeAsked':
        this.queue(observation.queue).openPurges += 1;
        return undefined;
      case 'purgeEnded':
        this.#bookPurged(this.queue(observation.queue));
        return undefined;
      case 'congestion':
        return this.#bookCongestion(observation);
      case 'brokerEnded':
        return this.#bookEnd(this.#connection(observation.connection));
      case 'draining':
        this.isDraining = true;
        this.drainedAt = observation.at + this.#shutdownTimeoutMs;
        for (const connection of this.connections.values()) connection.hasReasonToEnd = true;
        return observation;
      case 'idle':
        this.figures = observation.figures;
        this.#bookBlocked(observation);
        return observation;
      case 'lifeEnded':
        this.#bookLifeEnded(observation);
        return observation;
      case 'serving':
        this.#bookServing(observation);
        return observation;
      case 'ended':
      case 'faultsStopped':
      case 'finished':
        return observation;
    }
  }

  /** One that comes while there is no broker, or none with a store, is closed again, unless its Connect comes late enough. */
  #bookOpened({ connection: number, isSilent }: Extract<Observation, { kind: 'opened' }>): void {
    const connection = newConnection(number, isSilent);
    this.connections.set(number, connection);
    if (!this.isBetweenLives) return;
    connection.isUnserved = true;
    connection.mayBeServed = true;
    this.#mayLeave(connection, true);
  }

  #bookLifeEnded({ how }: Extract<Observation, { kind: 'lifeEnded' }>): void {
    // A process that begins counts from zero, one that has lost its store goes on.
    if (how !== 'storeFailed') this.figures = undefined;
    for (const connection of this.connections.values()) {
      connection.hasReasonToEnd = true;
      connection.isUnserved ||= how === 'storeFailed';
    }
  }

  #bookServing({ figures, queues }: Extract<Observation, { kind: 'serving' }>): void {
    this.isBetweenLives = false;
    this.bornEpoch = this.epoch;
    this.figures = figures;
    for (const name of queues.keys()) this.queue(name);
    for (const queue of this.queues.values()) {
      queue.info = queues.get(queue.name);
      queue.disturbedEpoch = this.epoch;
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
    if (sent.command === Command.Publish)
      this.messages.set(sent.published?.number ?? -1, newMessage(command));
    else if (sent.command === Command.Ack) bookAck(command);
    else if (sent.command === Command.Disconnect) this.#mayLeave(connection, true);
    else if (sent.command === Command.DeleteQueue) this.queue(sent.queue).openDeletions += 1;
    else if (sent.command === Command.Unsubscribe) {
      const subscription = connection.subscriptions.get(sent.queue);
      if (subscription !== undefined) subscription.isEnding = true;
    }
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

  /** When the broker is idle, a publish without an answer waits for room. */
  #bookBlocked({ restful, figures }: Extract<Observation, { kind: 'idle' }>): void {
    for (const number of restful) {
      const connection = this.#connection(number);
      if (connection.isUnserved || connection.hasEnded) continue;
      for (const command of connection.open) command.blockedAtCount = figures.publishedCount;
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

  #bookPurged(queue: SeenQueue): void {
    queue.openPurges -= 1;
    queue.purgedEpoch = this.epoch;
  }

  #mayLeave(connection: SeenConnection, hasReason: boolean): void {
    if (connection.leavingSince === undefined) {
      connection.leavingSince = this.epoch;
      this.leftCount += 1;
    }
    connection.hasReasonToEnd ||= hasReason;
  }

  /** Its unanswered commands stay open: their outcome is unknown. */
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
