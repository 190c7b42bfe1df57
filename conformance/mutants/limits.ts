// Faults in limits that are reached only where they are configured low. Areas: CONN, DELIVERY, METRICS, FRAME.
import type { Mutant } from './mutant.ts';

export const limitMutants: readonly Mutant[] = [
  {
    id: 'limit-pings-count',
    title: 'every command counts against the message rate',
    file: 'src/gateway/server-connection.ts',
    find: 'if (message.command !== Command.Publish || this.#messageRate === undefined) return undefined;',
    replace: 'if (this.#messageRate === undefined) return undefined;',
    mustFail: ['CONN-023a'],
  },
  {
    id: 'limit-window-begins-too-large',
    title: 'the first window may be larger than maxInFlightPerSubscriber',
    file: 'src/broker/window.ts',
    find: 'Math.min(FIRST_SIZE, max)',
    replace: 'FIRST_SIZE',
    mustFail: ['DELIVERY-045a'],
  },
  {
    id: 'limit-rejected-uncounted',
    title: 'rejected connections are not counted',
    file: 'src/gateway/admission.ts',
    find: '    this.rejectedCount += 1;',
    replace: '    this.rejectedCount += 0;',
    mustFail: ['METRICS-019a'],
  },
  {
    id: 'limit-dead-letter-name-takes-no-room',
    title: 'the longer name of the dead letter queue is not thought of when a message is taken',
    file: 'src/broker/publishing.ts',
    find: 'if (input.content.byteLength + queue.deadLetterGrowthBytes > this.#settings.maxContentBytes) {',
    replace: 'if (input.content.byteLength > this.#settings.maxContentBytes) {',
    mustFail: ['FRAME-021a'],
  },
];
