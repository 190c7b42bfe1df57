// Faults in the two modes that give each message to all subscribers. Area: DELIVERY.
import type { Mutant } from './mutant.ts';

const withAck = 'src/broker/delivery/fan-out-with-ack.ts';
const withoutAck = 'src/broker/delivery/fan-out-without-ack.ts';

export const fanOutMutants: readonly Mutant[] = [
  {
    id: 'fan-out-to-two',
    title: 'a FanOutWithAck message goes to two subscribers at most',
    file: withAck,
    find: '  for (const member of queue.subscriptions) {',
    replace: '  for (const member of [...queue.subscriptions].slice(0, 2)) {',
    mustFail: ['DELIVERY-014a'],
  },
  {
    id: 'fan-out-to-the-late',
    title: 'a subscriber that arrives gets a copy of what is in flight',
    file: withAck,
    find: 'function dispatch(queue: Queue, tools: DeliveryTools): void {',
    replace: `function dispatch(queue: Queue, tools: DeliveryTools): void {
  const known = ((queue as { known?: Set<Subscription> }).known ??= new Set());
  for (const member of queue.subscriptions) {
    if (known.has(member)) continue;
    known.add(member);
    const inFlight = [...queue.subscriptions].flatMap(({ connection }) => [...connection.inFlight.values()]);
    const messages = new Set(inFlight.filter((delivery) => delivery.queue === queue).map((delivery) => delivery.message));
    for (const message of messages) {
      if (message.fanOut === undefined || message.fanOut.openCount === 0) continue;
      message.fanOut.openCount += 1;
      tools.deliveries.send(queue, message, member, NOTHING_BEFORE);
    }
  }`,
    mustFail: ['DELIVERY-015a'],
  },
  {
    id: 'fan-out-waits-for-the-full',
    title: 'no FanOutWithAck message is sent before every subscriber has room',
    file: withAck,
    find: '  while (queue.ready.size > 0) {',
    replace: '  while (queue.ready.size > 0 && queue.ready.size === queue.subscriptions.size) {',
    mustFail: ['DELIVERY-049b'],
    mayFail: ['DELIVERY-017a', 'DELIVERY-018a', 'DELIVERY-019a'],
  },
  {
    id: 'fan-out-passes-over-the-full',
    title: 'a subscriber without room misses the FanOutWithAck message',
    file: withAck,
    find: '      fanOut.unsentCount += 1;\n      member.backlog.push(message);',
    replace: '',
    mustFail: ['DELIVERY-017a', 'DELIVERY-018a'],
    mayFail: ['DELIVERY-019a'],
  },
  {
    id: 'fan-out-half-sent-is-sent',
    title: 'a message that was sent to some subscribers is not counted as waiting',
    file: 'src/broker/queue.ts',
    find: 'return this.waiting.size + this.resting.size + this.partlySent.size;',
    replace: 'return this.waiting.size + this.resting.size;',
    mustFail: ['DELIVERY-018a'],
    mayFail: ['DELIVERY-019a'],
  },
  {
    id: 'fan-out-sends-what-was-pushed-out',
    title: 'copies that were pushed out are sent all the same',
    file: withAck,
    find: '    if (fanOut.unsentTaken) continue;\n    fanOut.unsentCount -= 1;\n    fanOut.openCount += 1;',
    replace: '    fanOut.unsentCount -= 1;\n    fanOut.openCount += 1;',
    mustFail: ['DELIVERY-019a'],
  },
  {
    id: 'fan-out-done-only-by-all',
    title: 'a message waits again when one subscriber leaves, though another acknowledged it',
    file: withAck,
    find: '  else if (acknowledged) settlement',
    replace: '  else if (acknowledged && !cutShort) settlement',
    mustFail: ['DELIVERY-021a'],
  },
  {
    id: 'fan-out-gone-is-lost',
    title: 'a message is dropped when all its copies are gone with their subscribers',
    file: withAck,
    find: '  else settlement.waitAgain(queue, message, cutShort);',
    replace: '  else settlement.dropRest(queue, message);',
    mustFail: ['DELIVERY-022a'],
  },
  {
    id: 'fan-out-to-the-first-only',
    title: 'a FanOutWithoutAck message goes to one subscriber',
    file: withoutAck,
    find: '      if (!subscription.hasRoom) queue.ready.remove(subscription);',
    replace: '      if (!subscription.hasRoom) queue.ready.remove(subscription);\n      break;',
    mustFail: ['DELIVERY-024a'],
    mayFail: ['DELIVERY-029a', 'DELIVERY-048b'],
  },
  {
    id: 'fan-out-without-ack-wants-acks',
    title: 'FanOutWithoutAck messages are kept until they are acknowledged',
    file: 'src/broker/delivery/modes.ts',
    find: '  2: fanOutWithoutAck,',
    replace: '  2: fanOutWithAck,',
    mustFail: ['DELIVERY-024a', 'DELIVERY-025a'],
    mayFail: ['DELIVERY-029a', 'DELIVERY-028a', 'DELIVERY-048b'],
  },
  {
    id: 'fan-out-waits-for-the-unreading',
    title: 'no FanOutWithoutAck message is sent while a subscriber does not read',
    file: withoutAck,
    find: '  while (queue.ready.size > 0 && ',
    replace: '  while (queue.ready.size > 0 && queue.ready.size === queue.subscriptions.size && ',
    mustFail: ['DELIVERY-048b'],
    mayFail: ['DELIVERY-029a'],
  },
  {
    id: 'fan-out-to-nobody',
    title: 'a FanOutWithoutAck message that no subscriber can take is discarded',
    file: withoutAck,
    find: '  while (queue.ready.size > 0 && ',
    replace: '  while (queue.subscriptions.size > 0 && ',
    mustFail: ['DELIVERY-028a'],
  },
];
