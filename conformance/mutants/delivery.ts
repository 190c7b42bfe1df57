// Faults in delivery, acknowledgments and subscriptions. Area: DELIVERY.
import type { Mutant } from './mutant.ts';

const broker = 'src/broker/broker.ts';
const deliveries = 'src/broker/deliveries.ts';
const attempts = 'src/broker/attempts.ts';
const oneSubscriber = 'src/broker/delivery/one-subscriber.ts';
const content = 'src/engine/translate/content.ts';
const commands = 'src/engine/translate/commands.ts';

const copy = '  body.copy(content, 0, 0, message.endAt);';

/** Re-encodes what is delivered, with this instead of a field. */
function reencoded(field: string): Pick<Mutant, 'file' | 'find' | 'replace'> {
  const fields = `{ ...message, command: Command.Deliver, ${field} }`;
  return { file: content, find: copy, replace: `${copy}\n  if (message) return encodeBody(${fields});` };
}

export const deliveryMutants: readonly Mutant[] = [
  {
    id: 'delivery-backlog-waits-for-publish',
    title: 'what waits is offered to a new subscriber only at the next Publish',
    file: broker,
    find: '    this.#answer(input);\n    this.#deliveries.refreshReady(queue, subscription);',
    replace: '    this.#answer(input);\n    queue.ready.refresh(subscription);',
    mustFail: ['DELIVERY-010a', 'DELIVERY-034a'],
    mayFail: [
      'DELIVERY-045a',
      ...[
        'DELIVERY-006a',
        'DELIVERY-037a',
        'DELIVERY-039a',
        'DELIVERY-040a',
        'DELIVERY-046a',
        'DELIVERY-055a',
      ],
      ...['DELIVERY-057a', 'DELIVERY-067a', 'DELIVERY-068a'],
    ],
  },
  {
    id: 'delivery-to-two',
    title: 'a message goes to the next subscriber too',
    file: oneSubscriber,
    find: '    deliveries.send(queue, message, subscription, earlierOf(message));\n  }\n}',
    replace:
      '    const other = queue.ready.firstOtherThan(subscription);\n    if (other !== undefined) deliveries.sendUnconfirmed(queue, message, other);\n    deliveries.send(queue, message, subscription, earlierOf(message));\n  }\n}',
    mustFail: ['DELIVERY-011a', 'DELIVERY-012a'],
    mayFail: ['DELIVERY-013a', 'DELIVERY-038a', 'DELIVERY-038b', 'DELIVERY-048a', 'DELIVERY-049a'],
  },
  {
    id: 'delivery-without-turns',
    title: 'the first subscriber is served until it is full',
    file: 'src/broker/ready-ring.ts',
    find: '    if (subscription.ready) this.remove(subscription);\n    if (subscription.hasRoom) this.#append(subscription);',
    replace: '    if (subscription.ready && !subscription.hasRoom) this.remove(subscription);',
    mustFail: ['DELIVERY-012a', 'DELIVERY-013a'],
  },
  {
    id: 'delivery-last-subscriber-first',
    title: 'the subscribers are served in turn from the last to the first',
    file: 'src/broker/ready-ring.ts',
    find: '    if (hasRoom) this.#append(subscription);',
    replace:
      '    const before: Subscription[] = [];\n    for (let ready = this.#head; hasRoom && ready; ready = this.#head) {\n      before.push(ready);\n      this.remove(ready);\n    }\n    if (hasRoom) [subscription, ...before].forEach((ready) => this.#append(ready));',
    mustFail: ['DELIVERY-013a'],
  },
  {
    id: 'delivery-nothing-waits',
    title: 'a message that nobody can take at once is dropped when it is the second',
    file: 'src/broker/settlement.ts',
    find: '    queue.waiting.insert(message);\n    this.#watchAge(queue, message);\n    this.#step.touch(queue);\n  }\n\n  #enterDeadLetterQueue',
    replace:
      '    if (queue.waiting.size === 0 || queue.subscriptions.size > 0) queue.waiting.insert(message);\n    this.#watchAge(queue, message);\n    this.#step.touch(queue);\n  }\n\n  #enterDeadLetterQueue',
    mustFail: ['DELIVERY-034a', 'DELIVERY-010a'],
    mayFail: ['DELIVERY-045a', 'DELIVERY-037a', 'DELIVERY-046a', 'DELIVERY-061a'],
  },
  {
    id: 'delivery-waits-for-the-full',
    title: 'nothing is sent while any subscriber has no room',
    file: oneSubscriber,
    find: '    if (subscription === undefined) return;',
    replace: '    if (subscription === undefined || queue.ready.size < queue.subscriptions.size) return;',
    mustFail: ['DELIVERY-048a', 'DELIVERY-049a'],
  },
  {
    id: 'delivery-youngest-first',
    title: 'the youngest of the messages that wait is sent first',
    file: 'src/broker/sequence-list.ts',
    find: '    if (returned === undefined) return this.#head;',
    replace: '    if (returned === undefined) return this.#tail;',
    mustFail: ['DELIVERY-035a', 'DELIVERY-037a', 'DELIVERY-039a'],
    mayFail: ['DELIVERY-010a', 'DELIVERY-034a', 'DELIVERY-046a'],
  },
  {
    id: 'delivery-kept-by-the-gone',
    title: 'what a subscriber held is not given back when its connection ends',
    file: broker,
    find: '    this.#attempts.cutShort(connection);\n',
    replace: '',
    mustFail: ['DELIVERY-038a', 'DELIVERY-038b', 'DELIVERY-006a'],
    mayFail: [
      ...[
        'DELIVERY-039a',
        'DELIVERY-040a',
        'DELIVERY-055a',
        'DELIVERY-057a',
        'DELIVERY-067a',
        'DELIVERY-068a',
      ],
    ],
  },
  {
    id: 'delivery-given-back-to-the-end',
    title: 'a message that is given back goes to the end of its queue',
    file: 'src/broker/settlement.ts',
    find: '    message.cutShortCount = cutShort ? message.cutShortCount + 1 : 0;',
    replace:
      '    message.sequence = queue.nextSequence++;\n    message.cutShortCount = cutShort ? message.cutShortCount + 1 : 0;',
    mustFail: ['DELIVERY-039a'],
  },
  {
    id: 'delivery-cut-short-is-failed',
    title: 'a delivery that was cut short counts as a failed attempt',
    file: attempts,
    find: "      else this.#end(delivery, { kind: 'gone', cutShort: true });",
    replace: "      else this.#failed(delivery, 'MaxRetriesExceeded', this.#step.now, true);",
    mustFail: ['DELIVERY-040a'],
  },
  {
    id: 'delivery-attempts-from-zero',
    title: 'deliveryAttempts counts the sendings before',
    file: content,
    find: 'yield [HeaderName.DeliveryAttempts, String(attempt)];',
    replace: 'yield [HeaderName.DeliveryAttempts, String(attempt - 1)];',
    mustFail: ['DELIVERY-055a', 'FRAME-023a'],
  },
  {
    id: 'delivery-attempts-of-the-publisher',
    title: "a header of the publisher's wins over the one that the broker adds",
    file: content,
    find: 'new Map([...message.headers, ...addedHeaders(effect)])',
    replace: 'new Map([...addedHeaders(effect), ...message.headers])',
    mustFail: ['DELIVERY-055a'],
  },
  {
    id: 'delivery-id-from-header',
    title: 'a message is delivered with its correlationId for an id',
    ...reencoded("id: message.headers.get('correlationId') ?? message.id"),
    mustFail: ['DELIVERY-050a'],
    mayFail: ['DELIVERY-052a'],
  },
  {
    id: 'delivery-without-queue',
    title: 'Deliver does not name its queue',
    ...reencoded("queue: ''"),
    mustFail: ['DELIVERY-050a'],
    mayFail: [
      'DELIVERY-045a',
      ...[
        'DELIVERY-001a',
        'DELIVERY-003a',
        'DELIVERY-006a',
        'DELIVERY-010a',
        'DELIVERY-011a',
        'DELIVERY-012a',
      ],
      ...[
        'DELIVERY-013a',
        'DELIVERY-034a',
        'DELIVERY-035a',
        'DELIVERY-037a',
        'DELIVERY-038a',
        'DELIVERY-038b',
      ],
      ...[
        'DELIVERY-039a',
        'DELIVERY-040a',
        'DELIVERY-046a',
        'DELIVERY-048a',
        'DELIVERY-049a',
        'DELIVERY-052a',
      ],
      ...[
        'DELIVERY-053a',
        'DELIVERY-054a',
        'DELIVERY-055a',
        'DELIVERY-057a',
        'DELIVERY-059a',
        'DELIVERY-061a',
      ],
      ...['DELIVERY-064a', 'DELIVERY-065a', 'DELIVERY-066a', 'DELIVERY-067a', 'DELIVERY-068a'],
    ],
  },
  {
    id: 'delivery-known-headers-only',
    title: 'headers that the protocol does not know are not delivered',
    ...reencoded(
      "headers: new Map([...message.headers].filter(([key]) => Object.values(HeaderName).includes(key as never) || key === 'timestamp'))",
    ),
    mustFail: ['DELIVERY-052a'],
  },
  {
    id: 'delivery-false-is-nothing',
    title: 'a payload that counts as false is delivered as none',
    ...reencoded(
      "payload: ['0', 'false', 'null', '\"\"'].includes(message.payload.toString()) ? Buffer.alloc(0) : message.payload",
    ),
    mustFail: ['DELIVERY-053a'],
    mayFail: ['DELIVERY-011a'],
  },
  {
    id: 'delivery-payload-rewritten',
    title: 'a payload is parsed and written anew',
    ...reencoded('payload: Buffer.from(JSON.stringify(JSON.parse(message.payload.toString() || "null")))'),
    mustFail: ['DELIVERY-054a'],
  },
  {
    id: 'delivery-acks-with-queue-ignored',
    title: 'an Ack that names its queue is ignored',
    file: deliveries,
    find: 'delivery.queue.name === queueName)',
    replace: "delivery.queue.name === '/'.concat(queueName))",
    mustFail: ['DELIVERY-001a', 'DELIVERY-067a'],
  },
  {
    id: 'delivery-acks-without-queue-ignored',
    title: 'an Ack that names no queue is ignored',
    file: deliveries,
    find: '(queueName === undefined || delivery.queue.name === queueName)',
    replace: 'delivery.queue.name === queueName',
    mustFail: ['DELIVERY-065a', 'DELIVERY-066a', 'DELIVERY-068a'],
    mayFail: [
      'DELIVERY-039a',
      'DELIVERY-045a',
      ...[
        'DELIVERY-010a',
        'DELIVERY-035a',
        'DELIVERY-046a',
        'DELIVERY-048a',
        'DELIVERY-049a',
        'DELIVERY-003a',
      ],
    ],
  },
  {
    id: 'delivery-ack-header-unread',
    title: 'header messageId of an Ack is not read',
    file: commands,
    find: 'const id = headers.get(HeaderName.MessageId) ?? message.id;',
    replace: 'const { id } = message;',
    mustFail: ['DELIVERY-066a'],
  },
  {
    id: 'delivery-left-behind-is-lost',
    title: 'what is in flight at an Unsubscribe is forgotten',
    file: broker,
    find: '    if (subscription.inFlightCount > 0) queue.departed.add(subscription);',
    replace:
      '    for (const delivery of [...subscription.connection.inFlight.values()]) {\n      if (delivery.subscription === subscription && this.#connections.has(subscription.connection.id)) this.#deliveries.remove(delivery);\n    }',
    mustFail: ['DELIVERY-006a'],
  },
  {
    id: 'delivery-ack-from-anybody',
    title: 'an Ack counts from whatever connection',
    file: broker,
    find: '    const connection = this.#connections.get(input.connection);\n    if (connection === undefined) return;\n    const delivery',
    replace:
      '    const asking = this.#connections.get(input.connection);\n    const connection = [...this.#connections.values()].find(({ inFlight }) => inFlight.has(input.id)) ?? asking;\n    if (connection === undefined) return;\n    const delivery',
    mustFail: ['DELIVERY-057a'],
  },
  {
    id: 'delivery-unknown-ack-answered',
    title: 'an Ack for nothing in flight is answered by an Error',
    file: broker,
    find: '    const delivery = this.#deliveries.find(connection, input.id, input.queue);\n    if (delivery === undefined) return;',
    replace:
      "    const delivery = this.#deliveries.find(connection, input.id, input.queue);\n    if (delivery === undefined) return this.#step.refuse(connection.id, { command: 30, id: input.id, queue: '' } as never, 'QUEUE_NOT_FOUND', 'x');",
    mustFail: ['DELIVERY-058a', 'DELIVERY-059a', 'DELIVERY-026a'],
  },
  {
    id: 'delivery-ack-of-any-queue',
    title: 'the queue that an Ack names is not looked at',
    file: deliveries,
    find: '(queueName === undefined || delivery.queue.name === queueName)',
    replace: '(queueName !== null)',
    mustFail: ['DELIVERY-067a'],
  },
  {
    id: 'delivery-ack-of-the-youngest',
    title: 'the youngest of several deliveries of an id is settled',
    file: deliveries,
    find: '    let delivery = connection.inFlight.get(id);\n',
    replace:
      '    let delivery = connection.inFlight.get(id);\n    while (queueName === undefined && delivery?.youngerOfSameId) delivery = delivery.youngerOfSameId;\n',
    mustFail: ['DELIVERY-068a'],
  },
  {
    id: 'delivery-after-unsubscribe',
    title: 'a subscription that has ended keeps its turn',
    file: broker,
    find: '    queue.ready.remove(subscription);\n    if (subscription.inFlightCount',
    replace: '    if (subscription.inFlightCount',
    mustFail: ['DELIVERY-061a'],
    mayFail: [
      ...[
        'DELIVERY-001a',
        'DELIVERY-006a',
        'DELIVERY-038a',
        'DELIVERY-038b',
        'DELIVERY-039a',
        'DELIVERY-040a',
      ],
      ...[
        'DELIVERY-055a',
        'DELIVERY-057a',
        'DELIVERY-065a',
        'DELIVERY-066a',
        'DELIVERY-067a',
        'DELIVERY-068a',
      ],
    ],
  },
  {
    id: 'delivery-unsubscribe-of-nothing-refused',
    title: 'Unsubscribe without a subscription is refused',
    file: broker,
    find: '    if (subscription !== undefined) this.#endSubscription(subscription);\n',
    replace:
      "    if (subscription === undefined) return this.#step.refuse(input.connection, input.token, 'QUEUE_NOT_FOUND', 'x');\n    this.#endSubscription(subscription);\n",
    mustFail: ['DELIVERY-063a'],
  },
  {
    id: 'delivery-second-subscribe-counts',
    title: 'a second Subscribe is a second subscription',
    file: broker,
    find: '    if (connection.subscriptions.has(input.queue)) return this.#answer(input);\n',
    replace: '',
    mustFail: ['DELIVERY-064a'],
  },
  {
    id: 'delivery-in-flight-fills',
    title: 'messages in flight count for maxQueueSize',
    file: 'src/broker/queue.ts',
    find: 'return this.waitingCount >= this.options.maxQueueSize;',
    replace: 'return this.waitingCount + this.inFlightCount >= this.options.maxQueueSize;',
    mustFail: ['DELIVERY-003a'],
  },
  {
    id: 'delivery-window-one-too-large',
    title: 'one message more than maxInFlight is in flight',
    file: 'src/broker/window.ts',
    find: 'Math.max(1, Math.min(asked, max))',
    replace: 'Math.max(1, Math.min(asked + 1, max))',
    mustFail: ['DELIVERY-046a'],
  },
];
