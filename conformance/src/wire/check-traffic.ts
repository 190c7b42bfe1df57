// The requirements that a check relies on besides its own: that a command is answered, that a message is delivered. A step that fails for
// such a requirement says nothing about the check's own, and neither does a step after the broker broke one during the check.
// engine/causes.ts finds the check that shows it broken. Areas: CONN, QUEUE, PUBLISH, DELIVERY, RETRY, DLQ.
import { Command } from './command.ts';
import { decodeBody } from './decode.ts';
import type { FrameFields, ReceivedFrame } from './frame.ts';
import { headerPairs } from './frame.ts';
import type { WireObserver } from './link.ts';
import type { Hints, MessageContent } from './queue-traffic.ts';
import { QueueTraffic } from './queue-traffic.ts';

/** By command: the requirement that says how it is answered. */
const answerRules: ReadonlyMap<number, string> = new Map([
  [Command.Connect, 'CONN-005'],
  [Command.Ping, 'CONN-019'],
  [Command.Publish, 'PUBLISH-001'],
  [Command.Subscribe, 'DELIVERY-069'],
  [Command.Unsubscribe, 'DELIVERY-061'],
  [Command.CreateQueue, 'QUEUE-001'],
  [Command.DeleteQueue, 'QUEUE-014'],
  [Command.QueueInfo, 'QUEUE-021'],
  [Command.ListQueues, 'QUEUE-028'],
  [Command.AdminCreateUser, 'AUTH-035'],
  [Command.AdminDeleteUser, 'AUTH-036'],
  [Command.AdminChangePassword, 'AUTH-037'],
  [Command.AdminGrantPermission, 'AUTH-039'],
  [Command.AdminRevokePermission, 'AUTH-040'],
  [Command.AdminListUsers, 'AUTH-041'],
  [Command.AdminGetUserPermissions, 'AUTH-042'],
]);

/** The requirement by which a command is answered; undefined for what has no answer. */
export function answerRule(command: number): string | undefined {
  return answerRules.get(command);
}

/** The requirement by which a Connect with these headers is accepted. */
export function handshakeRule(headers: FrameFields['headers']): string {
  const names = new Set(headerPairs(headers).map(([name]) => name));
  if (names.has('authUsername')) return 'AUTH-005';
  return names.has('authToken') ? 'AUTH-001' : 'CONN-005';
}

type Sent = { readonly command: number; readonly queue: string; isAnswered: boolean };

/** What the connections of one check sent and received: why a delivery is due, and which requirements the broker seems to break. */
export class CheckTraffic implements WireObserver {
  readonly #queues = new Map<string, QueueTraffic>();
  /** The commands of each connection, by id. */
  readonly #sent = new Map<string, Map<string, Sent>>();
  /** The connections that offered a compression algorithm. */
  readonly #compressing = new Set<string>();
  readonly #seen = new Set<string>();
  readonly #needed = new Set<string>();
  #at = 0;

  sent(connection: string, fields: FrameFields): void {
    const { command, id, queue = '' } = fields;
    this.#at += 1;
    if (command === Command.Ack) return this.#acknowledged(connection, fields);
    const offered = headerOf(fields, 'supported-compression');
    if (offered !== undefined) this.#compressing.add(connection);
    if (/brotli|gzip/i.test(offered ?? '')) this.#needed.add('COMPRESS-019');
    this.#sentBy(connection).set(id, { command, queue, isAnswered: false });
    if (/[^ -~]/.test(queue)) this.#needed.add('BODY-022');
    if (/[^ -~]/.test(id)) this.#needed.add('BODY-003');
    for (const rule of encodingNeeds(fields)) this.#needed.add(rule);
    const isNew = !this.#queues.has(queue);
    const queueTraffic = this.#of(queue);
    if (isNew && command === Command.Publish) this.#needed.add('QUEUE-044').add('QUEUE-049');
    if (isNew && command === Command.Subscribe) this.#needed.add('QUEUE-047').add('QUEUE-049');
    if (command === Command.CreateQueue) this.#created(queue, fields.payload);
    if (command === Command.Publish)
      queueTraffic.publish(id, {
        publisher: connection,
        at: this.#at,
        priority: headerOf(fields, 'priority') ?? '',
        content: { payload: String(fields.payload ?? ''), headers: headerPairs(fields.headers) },
      });
    if (command === Command.Subscribe)
      queueTraffic.subscribe(connection, { at: this.#at, window: windowOf(headerOf(fields, 'maxInFlight')) });
    if (command === Command.Unsubscribe) queueTraffic.unsubscribe(connection);
    if (command === Command.DeleteQueue) queueTraffic.forget();
  }

  /** Bytes that a check wrote as they are, or in pieces of its own: perhaps a whole frame. */
  sentBytes(connection: string, bytes: Buffer): void {
    this.#needed.add('FRAME-015');
    const isWhole = bytes.length >= headBytes && bytes.readUInt32BE(0) === bytes.length - headBytes;
    if (!isWhole || bytes[headBytes - 1] !== 0) return;
    try {
      this.sent(connection, decodeBody(bytes.subarray(headBytes)));
    } catch {
      // It is faulty, and meant to be. The broker serves the other connections as before.
      this.#needed.add('BODY-033');
    }
  }

  /** Several frames in one piece. */
  sentTogether(): void {
    this.#needed.add('FRAME-016');
  }

  /** A frame of so many bytes. */
  sentFrame(byteCount: number): void {
    if (byteCount > largeFrameBytes) this.#needed.add('FRAME-003');
  }

  /** The broker sent bytes that cannot be decoded. */
  receivedUndecodable(): void {
    for (const rule of encodingRules) this.#seen.add(rule);
  }

  received(connection: string, frame: ReceivedFrame): void {
    const { command, id, queue } = frame;
    // A field that is not where it should be leaves bytes behind the last one.
    if (frame.trailingByteCount > 0) this.#seen.add('BODY-001').add('BODY-014');
    if (frame.flags !== 0 && !this.#compressing.has(connection)) this.#seen.add('COMPRESS-004');
    if (command === Command.Deliver) return this.#delivered(connection, frame);
    if (command === Command.QueueInfo) this.#counted(queue, frame);
    if (!knownCommands.has(command)) this.#seen.add('BODY-043');
    const asked = this.#sentBy(connection).get(id);
    if (asked === undefined) this.#seen.add(unaskedRules.get(command) ?? 'CONN-006');
    else if (asked.isAnswered) this.#seen.add('CONN-040').add('ERROR-001');
    else asked.isAnswered = true;
    if (command === Command.PublishAck) this.#of(queue).accept(id);
    if (command === Command.UnsubscribeAck) this.#of(queue).unsubscribed(connection);
  }

  closed(connection: string, byRunner: boolean): void {
    if (!byRunner) for (const rule of closingRules) this.#seen.add(rule);
    for (const queueTraffic of this.#queues.values()) queueTraffic.end(connection, this.#at);
  }

  /** The requirement by which a message of `queue` (any that the connection subscribed to) is due there; undefined when none is known. */
  ofDelivery(
    connection: string,
    { queue, id }: { readonly queue?: string; readonly id?: string },
  ): string | undefined {
    const queues = queue === undefined ? this.#subscribedBy(connection) : [this.#of(queue)];
    const rules = queues.map((queueTraffic) => queueTraffic.ruleFor(connection, id));
    return rules.find((rule) => rule !== undefined);
  }

  /** The requirements whose breach would explain that the check fails; each needs a check that shows it. */
  hints(): Hints {
    const hints = [...this.#queues.values()].map((queueTraffic) => queueTraffic.hints());
    const blocked = this.#isPublisherBlocked() ? blockingRules : [];
    return {
      seen: [...new Set([...this.#seen, ...hints.flatMap(({ seen }) => seen)])],
      needed: [...new Set([...this.#needed, ...blocked, ...hints.flatMap(({ needed }) => needed)])],
    };
  }

  /** A Publish to a queue with BlockPublisher is not answered. */
  #isPublisherBlocked(): boolean {
    const sent = [...this.#sent.values()].flatMap((commands) => [...commands.values()]);
    return sent.some(
      ({ command, queue, isAnswered }) =>
        !isAnswered &&
        command === Command.Publish &&
        this.#queues.get(queue)?.options.overflowStrategy === blockPublisher,
    );
  }

  #delivered(connection: string, frame: ReceivedFrame): void {
    const { id, queue } = frame;
    const queueTraffic = this.#queues.get(queue);
    const content = queueTraffic?.contentOf(id);
    if (content !== undefined) this.#compare(content, frame);
    // Dead letters come under ids of another queue.
    if (queueTraffic !== undefined && (queueTraffic.has(id) || queueTraffic.deadLettersOf !== undefined))
      return queueTraffic.deliver(id, connection, this.#at);
    const meant = [...this.#queues.values()].find((one) => one.has(id) && one.isSubscribed(connection));
    this.#seen.add(meant === undefined ? 'DELIVERY-050' : 'DELIVERY-051');
    meant?.deliver(id, connection, this.#at);
  }

  #compare({ payload, headers }: MessageContent, frame: ReceivedFrame): void {
    if (frame.text() !== payload) this.#seen.add('DELIVERY-053').add('DELIVERY-054');
    const isKept = headers.every(([name, value]) => {
      const isLast = headers.findLast(([other]) => other === name)?.[1] === value;
      return !isLast || frame.header(name) === value;
    });
    if (isKept) return;
    this.#seen.add('DELIVERY-052');
    const differsInCase = ([name]: readonly [string, string]): boolean =>
      frame.headers.some(([other]) => other !== name && other.toLowerCase() === name.toLowerCase());
    if (headers.some(differsInCase)) this.#seen.add('BODY-019');
  }

  #counted(queue: string, frame: ReceivedFrame): void {
    const info = optionsOf(frame.text());
    if ([info['deliveryMode'], info['overflowStrategy']].some((value) => typeof value === 'string'))
      this.#seen.add('BODY-036');
    const count = info['messageCount'];
    if (typeof count === 'number') this.#queues.get(queue)?.countedAs(count);
  }

  #acknowledged(connection: string, fields: FrameFields): void {
    const named = headerOf(fields, 'messageId');
    const id = named ?? fields.id;
    const queue = fields.queue ?? '';
    const rule = named === undefined ? (queue === '' ? 'DELIVERY-065' : 'DELIVERY-067') : 'DELIVERY-066';
    const queues = queue === '' ? this.#holding(id, connection) : [this.#of(queue)];
    const reason = headerOf(fields, 'failureReason');
    for (const queueTraffic of queues) {
      if (reason === undefined) queueTraffic.acknowledge(id, connection, rule);
      else
        queueTraffic.refuse(id, connection, reason === 'DeserializationError' ? finalNackRules : nackRules);
    }
  }

  /** The queue of the oldest delivery of that id that the connection holds; all queues if it holds none. */
  #holding(id: string, connection: string): readonly QueueTraffic[] {
    const queues = [...this.#queues.values()];
    const held = queues.flatMap((queueTraffic) => {
      const since = queueTraffic.heldSince(id, connection);
      return since === undefined ? [] : [{ queueTraffic, since }];
    });
    const [oldest] = held.sort((a, b) => a.since - b.since);
    return oldest === undefined ? queues : [oldest.queueTraffic];
  }

  #subscribedBy(connection: string): readonly QueueTraffic[] {
    return [...this.#queues.values()].filter((queueTraffic) => queueTraffic.isSubscribed(connection));
  }

  #created(queue: string, payload: FrameFields['payload']): void {
    const options = optionsOf(payload);
    const { mode, enableDeadLetterQueue: isOn, deadLetterQueueName: name } = options;
    const queueTraffic = this.#of(queue);
    queueTraffic.options = {
      mode: typeof mode === 'number' ? mode : queueTraffic.options.mode,
      hasTtl: typeof options['messageTtl'] === 'string',
      maxQueueSize: Number(options['maxQueueSize'] ?? queueTraffic.options.maxQueueSize),
      overflowStrategy: Number(options['overflowStrategy'] ?? 0),
    };
    if (typeof mode === 'string' || typeof options['overflowStrategy'] === 'string')
      this.#needed.add('BODY-037');
    if (isOn !== true) return;
    if (typeof name === 'string') this.#needed.add('DLQ-002');
    const deadLetterQueue = typeof name === 'string' ? name : `${queue}.dlq`;
    // A queue of the check's own choice is to be left as it is.
    if (this.#queues.has(deadLetterQueue)) this.#needed.add('DLQ-007');
    this.#of(deadLetterQueue).deadLettersOf = queueTraffic;
  }

  #sentBy(connection: string): Map<string, Sent> {
    return entryOf(this.#sent, connection, () => new Map());
  }

  #of(queue: string): QueueTraffic {
    return entryOf(this.#queues, queue, () => new QueueTraffic());
  }
}

/** Why the broker may have closed a connection that a check goes on with. */
const closingRules = ['BODY-031', 'BODY-032', 'ERROR-006', 'CONN-028', 'CONN-003'] as const;

/** What answers under an id that was never sent: the requirement that it breaks. */
const unaskedRules: ReadonlyMap<number, string> = new Map([
  [Command.Error, 'CONN-008'],
  [Command.Pong, 'CONN-020'],
]);

const knownCommands: ReadonlySet<number> = new Set(Object.values(Command));

const blockPublisher = 2;

/** What a blocked publisher must not hinder. */
const blockingRules = ['OVERFLOW-013'] as const;

const nackRules = ['NACK-001'] as const;
const finalNackRules = ['NACK-001', 'NACK-005'] as const;

/** What a body that cannot be decoded may have wrong. */
const encodingRules = [
  'BODY-001',
  'BODY-003',
  'BODY-004',
  'BODY-008',
  'BODY-010',
  'FRAME-001',
  'FRAME-002',
] as const;

/** The length and the flags of a frame. */
const headBytes = 5;

/** Longer frames arrive in pieces on any network. */
const largeFrameBytes = 65_535;

function entryOf<Value>(map: Map<string, Value>, key: string, create: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = create();
  map.set(key, made);
  return made;
}

/** The requirements on the encoding that matter for long texts and for several headers. */
function encodingNeeds({ id, queue = '', headers }: FrameFields): readonly string[] {
  const pairs = headerPairs(headers);
  const lengths = [id, queue, ...pairs.flat()].map((text) => Buffer.byteLength(text));
  return [
    ...(lengths.some((length) => length > 127) ? ['BODY-002'] : []),
    ...(lengths.some((length) => length > 255) ? ['BODY-004'] : []),
    ...(pairs.length > 1 ? ['BODY-008'] : []),
  ];
}

function headerOf({ headers }: FrameFields, name: string): string | undefined {
  return headerPairs(headers).findLast(([key]) => key === name)?.[1];
}

function windowOf(header: string | undefined): number {
  const window = Number(header ?? '');
  return window >= 1 ? window : Number.POSITIVE_INFINITY;
}

function optionsOf(payload: FrameFields['payload']): Readonly<Record<string, unknown>> {
  if (typeof payload !== 'string') return {};
  try {
    const value: unknown = JSON.parse(payload);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
