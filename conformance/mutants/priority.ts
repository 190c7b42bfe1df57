// Faults in PriorityBased queues. Area: DELIVERY.
import type { Mutant } from './mutant.ts';

const waiting = 'src/broker/waiting-messages.ts';

export const priorityMutants: readonly Mutant[] = [
  {
    id: 'priority-to-all',
    title: 'a PriorityBased message goes to every subscriber',
    file: 'src/broker/delivery/modes.ts',
    find: '  3: priorityBased,',
    replace: '  3: { ...fanOutWithAck, newWaitingMessages: priorityBased.newWaitingMessages },',
    mustFail: ['DELIVERY-030a', 'DELIVERY-032a'],
  },
  {
    id: 'priority-lowest-first',
    title: 'the lowest priority goes first',
    file: waiting,
    find: '    return levels[3].first() ?? levels[2].first() ?? levels[1].first() ?? levels[0].first();',
    replace: '    return levels[0].first() ?? levels[1].first() ?? levels[2].first() ?? levels[3].first();',
    mustFail: ['DELIVERY-031a', 'DELIVERY-031b'],
  },
  {
    id: 'priority-youngest-first',
    title: 'within a priority the youngest message goes first',
    file: waiting,
    find: '    this.#levels[message.priority].insert(message);',
    replace:
      '    message.sequence = -Math.abs(message.sequence);\n    this.#levels[message.priority].insert(message);',
    mustFail: ['DELIVERY-033a'],
  },
];
