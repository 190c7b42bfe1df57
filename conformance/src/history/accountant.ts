// Judges a history of many messages as a whole, as Jepsen's queue checker does. A confirmed message that was never delivered is lost. A
// delivery of a message that was never published is unexpected. A delivery too many is duplicated. A delivered message of unknown
// outcome is recovered. At-least-once delivery is allowed: a message may be delivered again after a release, a negative ack or an ack
// timeout. It concludes only what is certain from outside. Pure. Areas: PUBLISH, DELIVERY, DLQ, DURABLE.
import type { Account, AccountCounts, Finding } from './account.ts';
import { ConnectionRecords } from './connection-records.ts';
import { judgeDelivery } from './delivery-judgement.ts';
import type { HistoryState } from './history-state.ts';
import { messageKey } from './history-state.ts';
import { losses } from './losses.ts';
import type { DeliveryRecord, PublishRecord } from './message-record.ts';
import { deliveryRecord, MessageRecord } from './message-record.ts';
import type { HistoryRules, Operation } from './operation.ts';
import { inversions } from './order.ts';

/** Error codes that leave open whether the broker has accepted the message. */
const openCodes: ReadonlySet<string> = new Set(['STORAGE_ERROR', 'SERVER_ERROR']);

export function account(operations: readonly Operation[], rules: HistoryRules): Account {
  const accountant = new Accountant(operations, rules);
  accountant.enter(0, operations.length);
  return accountant.result();
}

/** As `account`, but awaits `turn` after each part of the work, so that a long history does not block the event loop. */
export async function accountInTurns(
  operations: readonly Operation[],
  rules: HistoryRules,
  turn: () => Promise<void>,
): Promise<Account> {
  const accountant = new Accountant(operations, rules);
  for (let at = 0; at < operations.length; at += operationsPerTurn) {
    accountant.enter(at, at + operationsPerTurn);
    await turn();
  }
  return accountant.result();
}

const operationsPerTurn = 1000;

/** A delivery that its connection holds, or has acknowledged without proof that the broker read the ack. */
type LiveDelivery = { readonly queue: string; readonly id: string; readonly delivery: DeliveryRecord };

/** Finds operations by id and connection, so that the time grows linearly with the length of the history. */
class Accountant {
  readonly #operations: readonly Operation[];
  readonly #rules: HistoryRules;
  readonly #connections: ConnectionRecords;
  readonly #messages = new Map<string, MessageRecord>();
  readonly #messagesById = new Map<string, MessageRecord[]>();
  /** By connection; an ended delivery stays until its connection is searched. */
  readonly #liveDeliveries = new Map<string, Set<LiveDelivery>>();
  /** By connection and id, in the order of delivery. */
  readonly #heldDeliveries = new Map<string, LiveDelivery[]>();
  /** Messages with an unanswered Publish, by connection. */
  readonly #unanswered = new Map<string, Set<MessageRecord>>();
  /** For each dead letter queue, its source queues. */
  readonly #sourceQueues: ReadonlyMap<string, readonly string[]>;
  readonly #books: HistoryState;
  readonly #crashes: number[] = [];
  readonly #restarts: number[] = [];
  readonly #emptied = new Map<string, number>();
  readonly #findings: Finding[] = [];
  #redeliveredCount = 0;
  #undoneCount = 0;

  constructor(operations: readonly Operation[], rules: HistoryRules) {
    this.#operations = operations;
    this.#rules = rules;
    this.#connections = new ConnectionRecords(operations);
    this.#sourceQueues = sourceQueues(rules);
    this.#books = {
      rules,
      connections: this.#connections,
      messages: this.#messages,
      crashes: this.#crashes,
      restarts: this.#restarts,
      emptied: this.#emptied,
      endMs: operations.at(-1)?.atMs ?? 0,
    };
  }

  /** Adds the operations from `from` up to `to`, excluded. Call it once for each operation, in order. */
  enter(from: number, to: number): void {
    for (const [index, operation] of this.#operations.slice(from, to).entries())
      this.#enter(operation, from + index);
  }

  /** The result after all operations are added. */
  result(): Account {
    const lost = losses(this.#books);
    const inverted = inversions(this.#books);
    const findings = [...this.#findings, ...this.#refusedYetDelivered(), ...lost.findings, ...inverted];
    return { counts: this.#counts(findings, lost.outstandingCount), findings };
  }

  #enter(operation: Operation, at: number): void {
    const { connection } = operation;
    switch (operation.kind) {
      case 'publish':
        this.#published(operation, at);
        break;
      case 'published':
        this.#answered(operation, 'confirmed');
        break;
      case 'refused':
        this.#answered(operation, openCodes.has(operation.code) ? 'unknown' : 'refused');
        break;
      case 'subscribe':
        this.#connections.subscribe(connection, operation.queue, at);
        break;
      case 'subscribed':
        this.#connections.confirm(connection, operation.queue, at);
        break;
      case 'unsubscribe':
        this.#free(connection, operation.queue, { owed: false });
        break;
      case 'unsubscribed':
        this.#connections.unsubscribed(connection, operation.queue, at);
        break;
      case 'delivered':
        this.#delivered(operation, at);
        break;
      case 'ack':
        this.#acked(operation, at);
        break;
      case 'synchronised':
        this.#settle(connection, operation.upTo);
        break;
      case 'closed':
        this.#free(connection, undefined, { owed: true });
        this.#leaveOpen(connection);
        this.#connections.closed(connection, at);
        break;
      case 'emptied':
        this.#emptied.set(operation.queue, at);
        break;
      case 'crashed':
        this.#crashes.push(at);
        break;
      case 'restarted':
        this.#restarts.push(at);
        break;
    }
  }

  #message({ queue, id }: { readonly queue: string; readonly id: string }): MessageRecord {
    const key = messageKey(queue, id);
    const known = this.#messages.get(key);
    if (known !== undefined) return known;
    const message = new MessageRecord(queue, id);
    this.#messages.set(key, message);
    entryOf(this.#messagesById, id, () => []).push(message);
    return message;
  }

  #published(operation: Extract<Operation, { kind: 'publish' }>, at: number): void {
    const message = this.#message(operation);
    message.publishes.push({ at, outcome: 'open', ...pick(operation) });
    entryOf(this.#unanswered, operation.connection, () => new Set()).add(message);
  }

  #answered(
    operation: Extract<Operation, { kind: 'published' | 'refused' }>,
    outcome: PublishRecord['outcome'],
  ): void {
    const { connection } = operation;
    const message = this.#message(operation);
    const publish = message.openPublish(connection);
    if (publish !== undefined) publish.outcome = outcome;
    if (message.openPublish(connection) === undefined) this.#unanswered.get(connection)?.delete(message);
  }

  #delivered(operation: Extract<Operation, { kind: 'delivered' }>, at: number): void {
    const source = this.#sourceOf(operation);
    const message = this.#message(operation);
    const verdict = judgeDelivery({
      message,
      source,
      operation,
      books: this.#books,
      attempted: this.#messagesById.get(operation.id) ?? [],
    });
    if (verdict.kind === 'finding') this.#findings.push(verdict.finding);
    const record = deliveryRecord(operation, at);
    if (verdict.kind === 'begins anew') message.beginRound();
    if (verdict.kind === 'begins' || verdict.kind === 'begins anew') message.begin(record);
    else if (verdict.kind === 'goes on') message.continueFrom(verdict.from, record);
    else message.add(record);
    if (verdict.kind === 'goes on') this.#redeliveredCount += 1;
    if (verdict.kind === 'undone') this.#undo(verdict.from);
    if (this.#modeOf(operation.queue) === 'FanOutWithoutAck') record.state = 'settled';
    else this.#keep(operation, record);
  }

  #undo(delivery: DeliveryRecord | undefined): void {
    this.#undoneCount += 1;
    if (delivery !== undefined) delivery.wasUndone = true;
  }

  #keep({ connection, queue, id }: Operation & { kind: 'delivered' }, delivery: DeliveryRecord): void {
    const live = { queue, id, delivery };
    entryOf(this.#liveDeliveries, connection, () => new Set()).add(live);
    entryOf(this.#heldDeliveries, messageKey(connection, id), () => []).push(live);
  }

  /** The message whose dead letter this may be. */
  #sourceOf({ queue, id }: Extract<Operation, { kind: 'delivered' }>): MessageRecord | undefined {
    return this.#sourceQueues
      .get(queue)
      ?.map((source) => this.#messages.get(messageKey(source, id)))
      .find((message) => message !== undefined && message.publishes.length > 0);
  }

  /** An Ack settles the oldest delivery with its id that the connection holds. */
  #acked(operation: Extract<Operation, { kind: 'ack' }>, at: number): void {
    const key = messageKey(operation.connection, operation.id);
    const held = (this.#heldDeliveries.get(key) ?? []).filter(({ delivery }) => delivery.state === 'held');
    const oldest = held.find(({ queue }) => (operation.queue ?? queue) === queue);
    if (oldest !== undefined) {
      oldest.delivery.state = operation.negative === true ? 'free' : 'acked';
      oldest.delivery.ackedAt = at;
    }
    const rest = held.filter((live) => live !== oldest);
    if (rest.length > 0) this.#heldDeliveries.set(key, rest);
    else this.#heldDeliveries.delete(key);
  }

  #settle(connection: string, upTo: number): void {
    this.#eachLiveDelivery(connection, undefined, (delivery) => {
      if (delivery.state === 'acked' && (delivery.ackedAt ?? 0) < upTo) delivery.state = 'settled';
    });
  }

  /** Releases the deliveries of a connection. One with an ack that the broker may not have read may be delivered again too. */
  #free(connection: string, queue: string | undefined, { owed }: { readonly owed: boolean }): void {
    this.#eachLiveDelivery(connection, queue, (delivery) => {
      if (delivery.state === 'held') delivery.awaitsRedelivery = owed;
      if (delivery.state === 'held' || (owed && delivery.state === 'acked')) delivery.state = 'free';
    });
  }

  #eachLiveDelivery(
    connection: string,
    queue: string | undefined,
    act: (delivery: DeliveryRecord) => void,
  ): void {
    const all = this.#liveDeliveries.get(connection) ?? new Set();
    for (const live of all) {
      if (queue === undefined || live.queue === queue) act(live.delivery);
      if (!isLive(live.delivery)) all.delete(live);
    }
  }

  #leaveOpen(connection: string): void {
    for (const message of this.#unanswered.get(connection) ?? []) {
      const open = message.openPublish(connection);
      if (open !== undefined) open.outcome = 'unknown';
    }
  }

  #modeOf(queue: string): string {
    return this.#rules.queues[queue]?.mode ?? 'RoundRobin';
  }

  /** The Error may arrive after the delivery: only the fact that both happened counts. */
  #refusedYetDelivered(): readonly Finding[] {
    return [...this.#messages.values()]
      .filter(
        ({ publishes, possibleCount, deliveries }) =>
          publishes.length > 0 && possibleCount === 0 && deliveries.length > 0,
      )
      .map(({ queue, id }) => ({
        kind: 'unexpected',
        queue,
        id,
        text: 'its Publish was refused, but it was delivered',
        clause: 'PUBLISH-003',
      }));
  }

  #counts(findings: readonly Finding[], outstanding: number): AccountCounts {
    const all = [...this.#messages.values()].filter(({ publishes }) => publishes.length > 0);
    const count = (fits: (message: MessageRecord) => boolean): number => all.filter(fits).length;
    const found = (kind: Finding['kind']): number =>
      findings.filter((finding) => finding.kind === kind).length;
    return {
      attempted: all.length,
      confirmed: count(({ isConfirmed }) => isConfirmed),
      refused: count(({ possibleCount }) => possibleCount === 0),
      unknown: count(({ isUnknown }) => isUnknown),
      ok: count(({ deliveries }) => deliveries.length > 0),
      lost: found('lost'),
      duplicated: found('duplicated'),
      unexpected: found('unexpected'),
      recovered: count(({ isUnknown, deliveries }) => isUnknown && deliveries.length > 0),
      redelivered: this.#redeliveredCount,
      undone: this.#undoneCount,
      inverted: found('inverted'),
      outstanding,
    };
  }
}

function isLive({ state }: DeliveryRecord): boolean {
  return state === 'held' || state === 'acked';
}

function sourceQueues({ queues }: HistoryRules): ReadonlyMap<string, readonly string[]> {
  const sources = new Map<string, string[]>();
  for (const [queue, { deadLetterQueue }] of Object.entries(queues)) {
    if (deadLetterQueue !== undefined) entryOf(sources, deadLetterQueue, () => []).push(queue);
  }
  return sources;
}

/** The value of a key; creates it if it is missing. */
function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

function pick({
  atMs,
  connection,
  content,
}: Extract<Operation, { kind: 'publish' }>): Pick<PublishRecord, 'atMs' | 'connection' | 'content'> {
  return { atMs, connection, content };
}
