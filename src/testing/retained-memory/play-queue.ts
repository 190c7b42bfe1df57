// Carries out the plan of one queue: load, weigh, act, weigh again. At the end everything is deleted, and nothing may be left.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openMemoryStore } from '../../storage/memory/memory-store.ts';
import { openSqliteStore } from '../../storage/sqlite/sqlite-store.ts';
import { ContentWatch } from './content-watch.ts';
import type { ForgetfulClient } from './forgetful-client.ts';
import { bodyLengthOf, type SentFrame } from './frame-batch.ts';
import { actingMember } from './member.ts';
import type { Action, MemberPlan, RetainedQueuePlan } from './plan.ts';
import { RetainedBroker, type RetainedBrokerOptions } from './retained-broker.ts';
import { Scales } from './scales.ts';

const QUEUE = 'q';
const TTL_MS = 600_000;
const BATCH_LENGTH = 64;
const ACK_TIMEOUT_MS = 30_000;
/** All attempts of a message and the pauses between them. */
const ALL_ATTEMPTS_MS = 400_000;
const UNLIMITED = 1_000_000_000;

export async function playQueue(plan: RetainedQueuePlan): Promise<Scales> {
  const folder = mkdtempSync(join(tmpdir(), 'truemq-retained-'));
  try {
    const play = new Play(plan, join(folder, 'store.db'));
    return await play.run();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

class Play {
  readonly #plan: RetainedQueuePlan;
  readonly #watch = new ContentWatch();
  readonly #options: RetainedBrokerOptions;
  #broker!: RetainedBroker;
  #publisher!: ForgetfulClient;
  #members: ForgetfulClient[] = [];
  #round = 0;
  #isThere = true;

  constructor(plan: RetainedQueuePlan, path: string) {
    this.#plan = plan;
    const open =
      plan.storage === 'sqlite'
        ? () => openSqliteStore({ path, synchronous: 'normal' })
        : async () => openMemoryStore();
    this.#options = {
      openStore: this.#watch.watching(open),
      // Little may wait to be sent, so that it does not matter beside the messages.
      gateway: {
        maxOutboundBytes: 65_536,
        compressionThresholdBytes: plan.compresses ? 700 : UNLIMITED,
        timeouts: { handshakeTimeoutMs: 10_000, frameTimeoutMs: 30_000, idleTimeoutMs: UNLIMITED },
      },
      broker: {
        maxBurstBytes: 65_536,
        maxInFlightPerSubscriber: UNLIMITED,
        maxBlockedPublishes: UNLIMITED,
        maxBlockedBytes: UNLIMITED,
        ackTimeoutMs: ACK_TIMEOUT_MS,
      },
    };
  }

  async run(): Promise<Scales> {
    await this.#begin();
    const scales = await Scales.tared(this.#broker);
    await this.#load();
    await this.#weigh(scales, 'after the load');
    for (const action of this.#plan.actions) {
      await this.#act(action);
      await this.#weigh(scales, `after ${action}`);
    }
    await this.#end();
    await this.#weigh(scales, 'at the end');
    await this.#broker.stop();
    return scales;
  }

  async #begin(): Promise<void> {
    this.#broker = await RetainedBroker.started(this.#options);
    this.#publisher = await this.#broker.connect();
    await this.#create();
    await this.#join();
    await this.#publishTo('warm-up', 64);
    await this.#broker.ask(this.#publisher, { command: 41, id: 'delete', queue: 'warm-up' });
  }

  async #create(): Promise<void> {
    const {
      mode,
      overflowStrategy,
      maxQueueSize,
      hasTtl,
      hasDeadLetterQueue: enableDeadLetterQueue,
    } = this.#plan;
    const ttl = hasTtl ? { messageTtl: '00:10:00' } : {};
    const options = { mode, overflowStrategy, maxQueueSize, enableDeadLetterQueue, ...ttl };
    await this.#broker.ask(this.#publisher, {
      command: 40,
      id: 'create',
      queue: QUEUE,
      json: JSON.stringify(options),
    });
    this.#isThere = true;
  }

  async #join(): Promise<void> {
    for (const member of this.#plan.members) this.#members.push(await this.#joined(member));
  }

  async #joined(plan: MemberPlan): Promise<ForgetfulClient> {
    const client = await this.#broker.connect(this.#plan.compresses ? { compression: 'gzip' } : {});
    actingMember(client, plan.acks);
    const headers = [['maxInFlight', String(plan.window)]] as const;
    await this.#broker.ask(client, { command: 22, id: 'subscribe', queue: QUEUE, headers });
    if (!plan.reads) client.stopReading();
    return client;
  }

  async #load(): Promise<void> {
    await this.#publishTo(QUEUE, this.#plan.messageCount);
  }

  async #publishTo(queue: string, count: number): Promise<void> {
    this.#round += 1;
    for (let from = 0; from < count; from += BATCH_LENGTH) {
      const length = Math.min(BATCH_LENGTH, count - from);
      this.#publisher.send(Array.from({ length }, (_, index) => this.#message(queue, from + index)));
      await this.#broker.settle();
    }
  }

  #message(queue: string, number: number): SentFrame {
    const { contentBytes, idBytes } = this.#plan;
    const id = `${this.#round}-${number}`.padEnd(idBytes, '.');
    const frame = { command: 20, id, queue };
    const size = contentBytes[number % contentBytes.length] ?? 0;
    return { ...frame, payloadBytes: Math.max(1, size - bodyLengthOf(frame)) };
  }

  async #act(action: Action): Promise<void> {
    switch (action) {
      case 'reload':
        return this.#load();
      case 'purge':
        return this.#isThere ? this.#broker.purge(QUEUE) : undefined;
      case 'delete':
        return this.#delete();
      case 'deleteAndCreate':
        await this.#delete();
        await this.#create();
        return this.#load();
      case 'expire':
        return this.#broker.advance(TTL_MS);
      case 'retry':
        return this.#broker.advance(ALL_ATTEMPTS_MS);
      case 'disconnectMember':
        this.#members.shift()?.disconnect();
        return this.#broker.settle();
      case 'unsubscribeMember':
        this.#members.at(-1)?.send([{ command: 24, id: 'unsubscribe', queue: QUEUE }]);
        return this.#broker.settle();
      case 'disconnectPublisher':
        this.#publisher.disconnect();
        this.#publisher = await this.#broker.connect();
        return;
      case 'readAgain':
        for (const member of this.#members) member.resumeReading();
        return this.#broker.settle();
      case 'restart':
        return this.#restart();
    }
  }

  /** Deliveries of a deleted queue are kept until their acks are overdue. */
  async #delete(): Promise<void> {
    if (!this.#isThere) return;
    this.#isThere = false;
    await this.#broker.ask(this.#publisher, { command: 41, id: 'delete', queue: QUEUE });
    await this.#broker.advance(ACK_TIMEOUT_MS);
  }

  async #restart(): Promise<void> {
    await this.#broker.stop();
    const wallNow = this.#broker.environment.clock.wallNow();
    this.#broker = await RetainedBroker.started({ ...this.#options, wallNow });
    this.#publisher = await this.#broker.connect();
    this.#members = [];
    if (this.#isThere) await this.#join();
  }

  /** Empties the broker. */
  async #end(): Promise<void> {
    for (const member of this.#members) member.disconnect();
    this.#members = [];
    await this.#broker.settle();
    await this.#delete();
    const letters = { command: 41, id: 'delete', queue: `${QUEUE}.dlq` };
    if (this.#plan.hasDeadLetterQueue) await this.#broker.ask(this.#publisher, letters);
    await this.#broker.advance(ALL_ATTEMPTS_MS);
  }

  async #weigh(scales: Scales, moment: string): Promise<void> {
    await this.#broker.settle();
    await scales.weigh(this.#broker, moment);
    const leftover = this.#watch.leftoverCount();
    if (leftover > this.#unsentCount())
      scales.complain(`${moment}: ${leftover} contents of messages that have ended`);
  }

  /** Watched contents that may wait to be sent, by reference, to members that do not read. */
  #unsentCount(): number {
    return this.#plan.members.some(({ reads }) => !reads) ? 2 * this.#plan.members.length : 0;
  }
}
