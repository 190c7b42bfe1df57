// Faults in what becomes of a Publish to a full queue whose publisher does not wait. Area: OVERFLOW.
import type { Mutant } from './mutant.ts';

const publishing = 'src/broker/publishing.ts';

export const overflowMutants: readonly Mutant[] = [
  {
    id: 'overflow-before-delivery',
    title: 'a queue is full by what is in flight, though a subscriber could take the message',
    file: publishing,
    find: '  return queue.blocked.size === 0 && (!queue.isFull || queue.mode.takesAtOnce(queue));',
    replace:
      '  return queue.blocked.size === 0 && queue.waitingCount + queue.inFlightCount < queue.options.maxQueueSize;',
    mustFail: ['OVERFLOW-001a'],
  },
  {
    id: 'overflow-oldest-stays',
    title: 'a full DropOldest queue grows',
    file: publishing,
    find: '        if (oldest !== undefined) this.#settlement.pushOut(queue, oldest);',
    replace:
      '        if (oldest === undefined) return this.#step.refuse(connection.id, token, "QUEUE_FULL", "");',
    mustFail: ['OVERFLOW-002a', 'OVERFLOW-003a', 'OVERFLOW-005a'],
    mayFail: ['OVERFLOW-006a'],
  },
  {
    id: 'overflow-lowest-goes',
    title: 'the message of the lowest priority is pushed out',
    file: 'src/broker/waiting-messages.ts',
    find: `    return earlier(
      earlier(levels[0].first(), levels[1].first()),
      earlier(levels[2].first(), levels[3].first()),
    );`,
    replace: '    return levels[0].first() ?? levels[1].first() ?? levels[2].first() ?? levels[3].first();',
    mustFail: ['OVERFLOW-003a'],
  },
  {
    id: 'overflow-pushed-out-is-dead',
    title: 'what is pushed out is dead-lettered',
    file: 'src/broker/settlement.ts',
    find: `    this.#takeOffer(queue, message);
    this.#leave(queue, message, 'drop');
  }

  /** What was left`,
    replace: `    this.#takeOffer(queue, message);
    this.#step.stats.discardedCount -= 1;
    this.giveUp(queue, message, 'QueueOverflow', 0);
  }

  /** What was left`,
    mustFail: ['OVERFLOW-005a'],
  },
  {
    id: 'overflow-newest-enters',
    title: 'a full DropNewest queue grows',
    file: publishing,
    find: `      case OverflowStrategy.DropNewest:
        return this.#step.refuse(connection.id, token, 'QUEUE_FULL', full(queue));`,
    replace: `      case OverflowStrategy.DropNewest:
        return this.#accept(queue, connection, token, message);`,
    mustFail: ['OVERFLOW-007a'],
  },
  {
    id: 'overflow-newest-is-confirmed',
    title: 'a message that DropNewest drops gets PublishAck',
    file: publishing,
    find: `      case OverflowStrategy.DropNewest:
        return this.#step.refuse(connection.id, token, 'QUEUE_FULL', full(queue));`,
    replace: `      case OverflowStrategy.DropNewest:
        return this.#confirm(connection, token);`,
    mustFail: ['OVERFLOW-007a'],
  },
  {
    id: 'overflow-not-redirected',
    title: 'a full RedirectToDlq queue refuses',
    file: publishing,
    find: '        this.#settlement.redirect(queue, message);\n        return this.#confirm(connection, token);',
    replace: "        return this.#step.refuse(connection.id, token, 'QUEUE_FULL', full(queue));",
    mustFail: ['OVERFLOW-022a'],
  },
];
