// Judges the deliveries of every check with the accountant of the histories: a message that two subscribers hold, a copy that is sent twice,
// first deliveries in the wrong order, an acknowledged message that comes again. Left out is what a broker may decide: acks in forms that are
// only recommended, and when a fan-out begins anew.
// Only queues whose mode is certain are judged, and only in checks that read all that comes. Areas: DELIVERY.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Finding } from '../history/account.ts';
import { accountLines } from '../history/account.ts';
import { accountInTurns } from '../history/accountant.ts';
import { HistoryRecorder } from '../history/history-recorder.ts';
import type { DeliveryMode, QueueRules } from '../history/operation.ts';
import { deliveryModes } from '../history/operation.ts';
import { Command } from '../wire/command.ts';
import type { FrameFields, ReceivedFrame } from '../wire/frame.ts';
import { headerPairs } from '../wire/frame.ts';
import type { WatchedBreach } from './watched-breach.ts';

/** What no choice of a broker explains. */
const certainRules: ReadonlySet<string> = new Set([
  'DELIVERY-011',
  'DELIVERY-025',
  'DELIVERY-030',
  'DELIVERY-035',
]);

export type HistoryBounds = {
  /** The ack timeout in force. */
  readonly ackTimeoutMs: number;
  /** The mode of a queue that is created without one; undefined if it is not known. */
  readonly defaultMode: DeliveryMode | undefined;
};

type AskedQueue = {
  readonly connection: string;
  readonly queue: string;
  readonly mode: DeliveryMode | undefined;
};

export class WatchedHistory {
  readonly #now: () => number;
  readonly #recorder: HistoryRecorder;
  readonly #bounds: HistoryBounds;
  /** The unanswered CreateQueue commands, by connection and id. */
  readonly #asked = new Map<string, AskedQueue>();
  /** When each message was last delivered, by connection and id. */
  readonly #deliveredAt = new Map<string, number>();
  /** Messages with an ack that a broker may ignore. */
  readonly #oddlyAcked = new Set<string>();
  /** The queue that each id was published to. */
  readonly #queueOf = new Map<string, string>();
  /** Published to several queues: a dead letter of one may meet a message of the other. */
  readonly #sharedIds = new Set<string>();
  #isRestarted = false;
  /** By queue; undefined if the mode is not certain. */
  readonly #modes = new Map<string, DeliveryMode | undefined>();

  constructor(now: () => number, bounds: HistoryBounds) {
    this.#now = now;
    this.#recorder = new HistoryRecorder(now, { withContents: false });
    this.#recorder.begin();
    this.#bounds = bounds;
  }

  sent(connection: string, fields: FrameFields): void {
    const { command, id, queue = '', payload } = fields;
    this.#recorder.sent(connection, fields);
    if (command === Command.CreateQueue)
      this.#asked.set(key(connection, id), { connection, queue, mode: this.#modeIn(payload) });
    if (command === Command.Publish || command === Command.Subscribe) this.#noteUse(connection, queue);
    if (command === Command.Publish) this.#notePublish(id, queue);
    if (command === Command.DeleteQueue) this.#modes.set(queue, undefined);
    if (command === Command.Ack && !this.#isPlainAck(connection, fields)) {
      const named = headerPairs(fields.headers).find(([name]) => name === 'messageId')?.[1];
      this.#oddlyAcked.add(id).add(named ?? id);
    }
  }

  received(connection: string, frame: ReceivedFrame): void {
    this.#recorder.received(connection, frame);
    const asked = key(connection, frame.id);
    if (frame.command === Command.Deliver) this.#deliveredAt.set(asked, this.#now());
    const { command } = frame;
    if (command === Command.CreateQueue || command === Command.Error) this.#answered(asked, command);
  }

  /** The answer to a CreateQueue, which need not name its queue. */
  #answered(id: string, command: number): void {
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    if (asked === undefined || command === Command.Error) return;
    const { queue, mode } = asked;
    const isKnown = this.#modes.has(queue);
    if (!isKnown) this.#modes.set(queue, mode);
    else if (this.#modes.get(queue) !== mode) this.#modes.set(queue, undefined);
  }

  /** What uses a queue that may not exist may create it, in a mode that is not known. */
  #noteUse(connection: string, queue: string): void {
    const isAsked = [...this.#asked.values()].some(
      (one) => one.connection === connection && one.queue === queue,
    );
    if (!isAsked && !this.#modes.has(queue)) this.#modes.set(queue, undefined);
  }

  closed(connection: string, byRunner: boolean): void {
    this.#recorder.closed(connection, byRunner);
  }

  note(kind: 'crashed' | 'restarted'): void {
    this.#recorder.note(kind);
    this.#isRestarted = true;
  }

  /** The first certain breach; `delayMs`: the longest time for which the runner read nothing. */
  async breach(delayMs: number): Promise<WatchedBreach | undefined> {
    const { ackTimeoutMs } = this.#bounds;
    // What the runner read late seems to come again early.
    if (delayMs > ackTimeoutMs / 4) return undefined;
    const known = [...this.#modes].filter((entry): entry is [string, DeliveryMode] => entry[1] !== undefined);
    const queues: Record<string, QueueRules> = Object.fromEntries(
      known.map(([name, mode]) => [name, { mode }]),
    );
    // Others may use the connections afterwards.
    const operations = [...this.#recorder.operations];
    const rules = { queues, drained: [], ackTimeoutMs: ackTimeoutMs / 2, durable: false };
    const { counts, findings } = await accountInTurns(operations, rules, nextTurn);
    const first = findings.find((finding) => finding.queue in queues && this.#isCertain(finding));
    if (first === undefined) return undefined;
    const [, ...lines] = accountLines({ counts, findings: [first] }, operations);
    const what = 'messages are delivered once, and in order';
    const actual = lines.join('\n');
    const last = operations.findLast((one) => one.kind === 'delivered' && one.id === first.id);
    const atMs = last?.atMs ?? this.#now();
    return { clause: first.clause, what, expected: 'one delivery at a time', actual, atMs };
  }

  #notePublish(id: string, queue: string): void {
    if ((this.#queueOf.get(id) ?? queue) !== queue) this.#sharedIds.add(id);
    this.#queueOf.set(id, queue);
  }

  #isCertain({ clause, id }: Finding): boolean {
    if (this.#sharedIds.has(id)) return false;
    if (clause !== 'DELIVERY-001') return certainRules.has(clause);
    return !this.#oddlyAcked.has(id) && !this.#isRestarted;
  }

  /** An ack of a delivery that its connection received not long ago: no choice of a broker explains that it is ignored. */
  #isPlainAck(connection: string, { id, queue = '', headers }: FrameFields): boolean {
    const deliveredAt = this.#deliveredAt.get(key(connection, id));
    const names = headerPairs(headers).map(([name]) => name);
    const isUsual = queue !== '' && !names.includes('messageId') && !names.includes('failureReason');
    return isUsual && deliveredAt !== undefined && this.#now() - deliveredAt < this.#bounds.ackTimeoutMs / 4;
  }

  #modeIn(payload: FrameFields['payload']): DeliveryMode | undefined {
    const { mode = null } = optionsIn(payload) ?? { mode: undefined };
    if (mode === null) return this.#bounds.defaultMode;
    return typeof mode === 'number' ? deliveryModes[mode] : undefined;
  }
}

/** The options of a CreateQueue; undefined if they cannot be read. */
function optionsIn(payload: FrameFields['payload']): Readonly<Record<string, unknown>> | undefined {
  if (payload === undefined || payload.length === 0) return {};
  try {
    const value: unknown = JSON.parse(payload.toString());
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function key(connection: string, id: string): string {
  return `${connection}\n${id}`;
}
