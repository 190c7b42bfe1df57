// Judges a history of many messages as a whole, as Jepsen's checker of queues does: what was confirmed and never came is lost, what
// came without having been sent is unexpected, what came once too often is duplicated, and what nobody could know of and came all
// the same is recovered. At-least-once delivery is no fault: what was given back, refused or not acknowledged in time may come
// again. It concludes only what is sure from outside. Pure. Areas: PUBLISH, DELIVERY, DLQ, DURABLE.
import type { Account, AccountCounts, Finding } from './account.ts';
import type { Books } from './books.ts';
import { messageKey } from './books.ts';
import { ConnectionBook } from './connection-book.ts';
import { judgeDelivery } from './delivery-judgement.ts';
import { losses } from './losses.ts';
import type { PublishRecord } from './message-record.ts';
import { deliveryRecord, MessageRecord } from './message-record.ts';
import type { HistoryRules, Operation } from './operation.ts';
import { inversions } from './order.ts';

/** Codes of Error that leave open whether the message was taken. */
const openCodes: ReadonlySet<string> = new Set(['STORAGE_ERROR', 'SERVER_ERROR']);

export function account(operations: readonly Operation[], rules: HistoryRules): Account {
  return new Accountant(operations, rules).account();
}

class Accountant {
  readonly #operations: readonly Operation[];
  readonly #rules: HistoryRules;
  readonly #connections: ConnectionBook;
  readonly #messages = new Map<string, MessageRecord>();
  readonly #crashes: number[] = [];
  readonly #emptied = new Map<string, number>();
  readonly #findings: Finding[] = [];
  #redeliveredCount = 0;
  #undoneCount = 0;

  constructor(operations: readonly Operation[], rules: HistoryRules) {
    this.#operations = operations;
    this.#rules = rules;
    this.#connections = new ConnectionBook(operations);
  }

  account(): Account {
    for (const [at, operation] of this.#operations.entries()) this.#enter(operation, at);
    const books = this.#books();
    const lost = losses(books);
    const inverted = inversions(books);
    const findings = [...this.#findings, ...this.#refusedYetDelivered(), ...lost.findings, ...inverted];
    return { counts: this.#counts(findings, lost.outstandingCount), findings };
  }

  #books(): Books {
    return {
      rules: this.#rules,
      connections: this.#connections,
      messages: this.#messages,
      crashes: this.#crashes,
      emptied: this.#emptied,
      endMs: this.#operations.at(-1)?.atMs ?? 0,
    };
  }

  #enter(operation: Operation, at: number): void {
    const { connection } = operation;
    switch (operation.kind) {
      case 'publish':
        this.#message(operation).publishes.push({ at, outcome: 'open', ...pick(operation) });
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
        break;
    }
  }

  #message({ queue, id }: { readonly queue: string; readonly id: string }): MessageRecord {
    const key = messageKey(queue, id);
    const message = this.#messages.get(key) ?? new MessageRecord(queue, id);
    this.#messages.set(key, message);
    return message;
  }

  #answered(
    operation: Extract<Operation, { kind: 'published' | 'refused' }>,
    outcome: PublishRecord['outcome'],
  ): void {
    const publish = this.#message(operation).openPublish(operation.connection);
    if (publish !== undefined) publish.outcome = outcome;
  }

  #delivered(operation: Extract<Operation, { kind: 'delivered' }>, at: number): void {
    const source = this.#sourceOf(operation);
    const message = this.#message(operation);
    const verdict = judgeDelivery({
      message,
      source,
      operation,
      books: this.#books(),
      attempted: [...this.#messages.values()].filter(({ id }) => id === operation.id),
    });
    if (verdict.kind === 'finding') this.#findings.push(verdict.finding);
    const record = deliveryRecord(operation, at);
    if (verdict.kind === 'begins anew') message.beginRound();
    if (verdict.kind === 'begins' || verdict.kind === 'begins anew') message.begin(record);
    else if (verdict.kind === 'goes on') message.goOn(verdict.from, record);
    else message.add(record);
    if (verdict.kind === 'goes on') this.#redeliveredCount += 1;
    if (verdict.kind === 'undone') this.#undoneCount += 1;
    if (this.#modeOf(operation.queue) === 'FanOutWithoutAck') record.state = 'settled';
  }

  /** The message whose dead letter this may be. */
  #sourceOf({ queue, id }: Extract<Operation, { kind: 'delivered' }>): MessageRecord | undefined {
    const sources = Object.entries(this.#rules.queues).filter(
      ([, { deadLetterQueue }]) => deadLetterQueue === queue,
    );
    return sources
      .map(([source]) => this.#messages.get(messageKey(source, id)))
      .find((message) => message !== undefined && message.publishes.length > 0);
  }

  /** An Ack means the oldest delivery of its id that the connection holds. */
  #acked(operation: Extract<Operation, { kind: 'ack' }>, at: number): void {
    const held = [...this.#messages.values()]
      .filter(({ id, queue }) => id === operation.id && (operation.queue ?? queue) === queue)
      .flatMap(({ deliveries }) => deliveries)
      .filter(({ connection, state }) => connection === operation.connection && state === 'held')
      .sort((a, b) => a.at - b.at)[0];
    if (held === undefined) return;
    held.state = operation.negative === true ? 'free' : 'acked';
    held.ackedAt = at;
  }

  #settle(connection: string, upTo: number): void {
    this.#eachDelivery(connection, undefined, (delivery) => {
      if (delivery.state === 'acked' && (delivery.ackedAt ?? 0) < upTo) delivery.state = 'settled';
    });
  }

  /** Gives back what a connection holds. What it acknowledged without a sign that the ack was read may come again too. */
  #free(connection: string, queue: string | undefined, { owed }: { readonly owed: boolean }): void {
    this.#eachDelivery(connection, queue, (delivery) => {
      if (delivery.state === 'held') delivery.owed = owed;
      if (delivery.state === 'held' || (owed && delivery.state === 'acked')) delivery.state = 'free';
    });
  }

  #eachDelivery(
    connection: string,
    queue: string | undefined,
    act: (delivery: MessageRecord['deliveries'][number]) => void,
  ): void {
    for (const message of this.#messages.values()) {
      if (queue !== undefined && message.queue !== queue) continue;
      for (const delivery of message.deliveries) if (delivery.connection === connection) act(delivery);
    }
  }

  #leaveOpen(connection: string): void {
    for (const message of this.#messages.values()) {
      const open = message.openPublish(connection);
      if (open !== undefined) open.outcome = 'unknown';
    }
  }

  #modeOf(queue: string): string {
    return this.#rules.queues[queue]?.mode ?? 'RoundRobin';
  }

  /** The refusal may have been seen after the delivery: all that counts is that both happened. */
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
        text: 'its Publish was refused, and it was delivered',
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

function pick({
  atMs,
  connection,
  content,
}: Extract<Operation, { kind: 'publish' }>): Pick<PublishRecord, 'atMs' | 'connection' | 'content'> {
  return { atMs, connection, content };
}
