// The model on short stories: what may come is explained, whatever was chosen; what may not is a broken rule, named.
import { beforeEach, describe, expect, it } from 'vitest';
import { BrokenRule, BrokerModel } from './broker-model.ts';
import type { ModelQueueOptions } from './state.ts';

const options: ModelQueueOptions = {
  mode: 'RoundRobin',
  maxQueueSize: 2,
  overflowStrategy: 'DropOldest',
  maxRetryAttempts: 2,
  enableDeadLetterQueue: true,
  deadLetterQueue: 'q.dlq',
  deadLetterQueueName: undefined,
};
const positive = { clause: 'PUBLISH-001', what: 'it' };
const [a, b, c] = [0, 1, 2];

let model: BrokerModel;
let at: number;

beforeEach(() => {
  model = new BrokerModel(undefined);
  at = 0;
});

function create(more: Partial<ModelQueueOptions> = {}): void {
  model.create('q', { ...options, ...more }, false);
  model.answered(false, positive);
}

function publish(id: string, more: { priority?: number; isError?: boolean; by?: number } = {}): void {
  at += 1;
  const content = { id, payload: `"${id}"`, headers: {}, priority: more.priority ?? 1 };
  model.publish({ queue: 'q', content, publisher: more.by ?? a, at });
  model.answered(more.isError ?? false, positive);
}

function subscribe(connection: number, queue = 'q'): void {
  model.subscribe(connection, queue);
  model.answered(false, positive);
  model.subscribed(connection, queue);
}

function delivered(id: string, connection: number, more: { queue?: string; payload?: string } = {}): void {
  at += 1;
  const { queue = 'q', payload = `"${id}"` } = more;
  model.delivered({ connection, queue, id, payload, headers: new Map(), at });
}

function ack(id: string, connection: number): void {
  at += 1;
  model.acknowledge({ connection, id, queue: undefined, at });
}

function info(messageCount: number, subscriberCount: number, deliveryMode = 0): void {
  model.ask();
  model.answered(false, positive);
  const fields = { name: 'q', deliveryMode, maxSize: 2, overflowStrategy: 0, maxRetryAttempts: 2 };
  model.info('q', { ...fields, enableDeadLetterQueue: true, messageCount, subscriberCount });
}

function brokenBy(act: () => void): string | undefined {
  try {
    act();
  } catch (error) {
    if (error instanceof BrokenRule) return error.breach.clause;
    throw error;
  }
  return undefined;
}

const clauses = (): readonly string[] => model.differences.map(({ clause }) => clause);

describe('one subscriber', () => {
  it('explains a message that is delivered, acknowledged and gone', () => {
    create();
    subscribe(b);
    publish('m');
    expect(model.due(false)?.clause).toBe('DELIVERY-010');
    delivered('m', b);
    expect(model.due(false)).toBeUndefined();
    info(0, 1);
    ack('m', b);
    expect(brokenBy(() => delivered('m', b))).toBe('DELIVERY-001');
    expect(clauses()).toEqual([]);
  });

  it('names the rule when a message comes to two, with other bytes, or to nobody who asked', () => {
    create();
    subscribe(b);
    subscribe(c);
    publish('m');
    expect(brokenBy(() => delivered('m', a))).toBe('DELIVERY-061');
    expect(brokenBy(() => delivered('m', b, { payload: '1' }))).toBe('DELIVERY-053');
    delivered('m', b);
    expect(brokenBy(() => delivered('m', c))).toBe('DELIVERY-011');
  });

  it('knows that what waits may have been under way to a connection that ends, unseen', () => {
    create({ mode: 'PriorityBased', maxRetryAttempts: 1 });
    subscribe(b);
    subscribe(c);
    publish('first');
    delivered('first', b);
    publish('second');
    publish('urgent', { priority: 2 });
    model.leave(b, at);
    // While the urgent one was with b, the next one came to c.
    model.delivered({ connection: c, queue: 'q', id: 'second', payload: '"second"', headers: new Map(), at });
    expect(brokenBy(() => model.quiet())).toBeUndefined();
    // Cut short on the only attempt, which may count: there may be a dead letter of it, and nothing in the queue.
    ack('second', c);
    expect(brokenBy(() => model.overdue(false))).toBeUndefined();
    expect(clauses()).toEqual(['DELIVERY-040']);
  });

  it('explains what was on its way when its queue was deleted, and no later', () => {
    create();
    subscribe(b);
    subscribe(c);
    publish('m');
    model.delete('q', at);
    model.answered(false, positive);
    model.delivered({ connection: b, queue: 'q', id: 'm', payload: '"m"', headers: new Map(), at });
    model.quiet();
    create();
    publish('other');
    model.delete('q', at);
    model.answered(false, positive);
    model.quiet();
    expect(brokenBy(() => delivered('other', c))).toBe('QUEUE-014');
  });

  it('still knows in what order what waited comes when nobody has left', () => {
    create({ mode: 'PriorityBased' });
    publish('second');
    publish('urgent', { priority: 2 });
    subscribe(c);
    delivered('second', c);
    expect(brokenBy(() => model.quiet())).toBe('DELIVERY-031');
  });

  it('expects what was held again when its connection ends', () => {
    create();
    subscribe(b);
    publish('m');
    delivered('m', b);
    model.leave(b, at);
    info(1, 0);
    subscribe(c);
    expect(model.due(false)?.clause).toBe('DELIVERY-038');
    delivered('m', c);
    expect(model.due(false)).toBeUndefined();
  });

  it('takes either way after an Unsubscribe: given back at once, or kept', () => {
    create();
    subscribe(b);
    publish('m');
    delivered('m', b);
    model.unsubscribe(b, 'q', at);
    model.answered(false, positive);
    info(1, 0);
    expect(brokenBy(() => info(0, 0))).toBe('QUEUE-025');
  });

  it('lets an ack from elsewhere count, as a difference', () => {
    create();
    subscribe(b);
    publish('m');
    delivered('m', b);
    ack('m', c);
    model.leave(b, at);
    expect(clauses()).toEqual([]);
    info(0, 0);
    expect(clauses()).toEqual(['DELIVERY-057']);
  });

  it('knows the highest priority, and the order of one publisher', () => {
    create({ mode: 'PriorityBased' });
    publish('low', { priority: 0 });
    publish('high', { priority: 2 });
    subscribe(b);
    delivered('low', b);
    expect(brokenBy(() => model.quiet())).toBe('DELIVERY-031');
  });

  it('lets a next attempt come although something more urgent waits for room', () => {
    create({ mode: 'PriorityBased', maxRetryAttempts: 3 });
    subscribe(b);
    publish('low', { priority: 0 });
    delivered('low', b);
    publish('urgent', { priority: 3 });
    at += 1;
    model.refuse(b, 'low', 'HandlerException', at);
    at += 1;
    const headers = new Map([['deliveryAttempts', '2']]);
    model.delivered({ connection: b, queue: 'q', id: 'low', payload: '"low"', headers, at });
    expect(brokenBy(() => model.quiet())).toBeUndefined();
  });

  it('does not let a later message of a publisher come first to the same subscriber', () => {
    create();
    publish('one');
    publish('two');
    subscribe(b);
    delivered('two', b);
    expect(brokenBy(() => delivered('one', b))).toBe('DELIVERY-035');
  });

  it('serves each of several idle subscribers once', () => {
    create();
    subscribe(b);
    subscribe(c);
    publish('m');
    delivered('m', b);
    publish('n');
    expect(brokenBy(() => delivered('n', b))).toBe('DELIVERY-012');
  });
});

describe('overflow, repeats and dead letters', () => {
  it('drops the oldest, and nothing else', () => {
    create();
    for (const id of ['one', 'two', 'three']) publish(id);
    subscribe(b);
    expect(brokenBy(() => delivered('one', b))).toBe('DELIVERY-001');
    delivered('two', b);
  });

  it('takes PublishAck for a dropped newest as a difference', () => {
    create({ overflowStrategy: 'DropNewest' });
    for (const id of ['one', 'two', 'three']) publish(id);
    expect(clauses()).toEqual(['OVERFLOW-008']);
    info2(2);
  });

  it('takes a repeat for the same message, or notes that it is not', () => {
    create();
    publish('m');
    publish('m');
    expect(clauses()).toEqual([]);
    info(2, 0);
    expect(clauses()).toEqual(['PUBLISH-005']);
  });

  it('buries what was refused often enough, once', () => {
    create();
    subscribe(b);
    publish('m');
    for (let attempt = 0; attempt < 2; attempt += 1) {
      delivered('m', b);
      model.refuse(b, 'm', 'HandlerException', at);
    }
    expect(brokenBy(() => delivered('m', b))).toBe('DELIVERY-051');
    subscribe(c, 'q.dlq');
    expect(model.due(false)?.clause).toBe('DLQ-001');
    delivered('m', c, { queue: 'q.dlq' });
    expect(model.due(false)).toBeUndefined();
  });

  function info2(messageCount: number): void {
    expect(brokenBy(() => info(messageCount + 1, 0))).toBe('QUEUE-009');
  }
});

describe('fan-out', () => {
  it('owes each member its copy, and nobody who comes later', () => {
    create({ mode: 'FanOutWithAck' });
    subscribe(a);
    subscribe(b);
    publish('m');
    delivered('m', a);
    expect(model.due(false)?.clause).toBe('DELIVERY-014');
    delivered('m', b);
    subscribe(c);
    expect(brokenBy(() => delivered('m', c))).toBe('DELIVERY-015');
    expect(brokenBy(() => delivered('m', b))).toBe('DELIVERY-014');
  });

  it('lets a message wait again when all its copies are gone', () => {
    create({ mode: 'FanOutWithAck' });
    subscribe(b);
    publish('m');
    delivered('m', b);
    model.leave(b, at);
    subscribe(c);
    expect(model.due(false)?.clause).toBe('DELIVERY-038');
    delivered('m', c);
    ack('m', c);
    expect(brokenBy(() => delivered('m', c))).toBe('DELIVERY-001');
  });

  it('is done with a FanOutWithoutAck message when it is sent', () => {
    create({ mode: 'FanOutWithoutAck' });
    subscribe(b);
    publish('m');
    delivered('m', b);
    model.leave(b, at);
    subscribe(c);
    expect(model.due(true)).toBeUndefined();
    expect(brokenBy(() => delivered('m', c))).toBe('DELIVERY-025');
  });
});

describe('recommendations that are decided otherwise', () => {
  const refused = { clause: 'QUEUE-014', what: 'it' };

  function told(isError: boolean): void {
    model.answered(isError, refused);
  }

  it('takes the refusal of a second Subscribe, and of an Unsubscribe without subscription', () => {
    create();
    subscribe(b);
    model.subscribe(b, 'q');
    told(true);
    model.unsubscribe(c, 'q', at);
    told(true);
    expect(clauses()).toEqual(['DELIVERY-064', 'DELIVERY-063']);
    model.unsubscribe(b, 'q', at);
    expect(brokenBy(() => told(true))).toBe('QUEUE-014');
  });

  it('knows dead letter queues that are made at need, or under a name that nobody told', () => {
    create();
    model.list(['q'], ['q', 'q.dlq']);
    expect(clauses()).toEqual(['DLQ-004']);
    expect(model.has('q.dlq')).toBe(false);
    subscribe(b);
    publish('m');
    delivered('m', b);
    model.refuse(b, 'm', 'DeserializationError', at);
    model.subscribe(c, 'q.dlq');
    told(true);
    expect(clauses()).toContain('DLQ-003');
  });

  it('lets a copy wait again when its pause is over after an Unsubscribe, while another copy stays in flight', () => {
    create({ mode: 'FanOutWithAck' });
    subscribe(c);
    publish('m');
    delivered('m', c);
    model.refuse(c, 'm', 'HandlerException', at);
    publish('n');
    delivered('n', c);
    model.unsubscribe(c, 'q', at);
    model.answered(false, positive);
    subscribe(a);
    ack('n', c);
    delivered('m', a);
    ack('m', a);
    expect(model.due(true)).toBeUndefined();
    expect(clauses()).toEqual([]);
    expect(brokenBy(() => delivered('m', a))).toBe('DELIVERY-001');
  });

  it('counts a subscriber of a fan-out in whose SubscribeAck was not read yet when another got its copy', () => {
    create({ mode: 'FanOutWithAck' });
    publish('m');
    subscribe(b);
    model.subscribe(c, 'q');
    model.delivered({ connection: b, queue: 'q', id: 'm', payload: '"m"', headers: new Map(), at });
    model.answered(false, positive);
    model.subscribed(c, 'q');
    expect(brokenBy(() => delivered('m', c))).toBeUndefined();
    subscribe(a);
    expect(brokenBy(() => delivered('m', a))).toBe('DELIVERY-015');
  });

  it('takes a dead letter under another id', () => {
    create();
    subscribe(b);
    publish('m');
    delivered('m', b);
    model.refuse(b, 'm', 'DeserializationError', at);
    subscribe(c, 'q.dlq');
    delivered('fresh', c, { queue: 'q.dlq', payload: '"m"' });
    expect(clauses()).toContain('DLQ-012');
    ack('fresh', c);
    expect(brokenBy(() => delivered('fresh', c, { queue: 'q.dlq', payload: '"m"' }))).toBeDefined();
  });

  it.each([
    ['DeserializationError', true],
    ['HandlerException', false],
  ] as const)(
    'asks for the failed attempts of copies only where all failed equally often (%s)',
    (reason, isAsked) => {
      create({ mode: 'FanOutWithAck' });
      subscribe(a);
      subscribe(b);
      publish('m');
      delivered('m', a);
      delivered('m', b);
      model.refuse(a, 'm', 'DeserializationError', at);
      model.refuse(b, 'm', reason, at);
      if (reason === 'HandlerException') {
        delivered('m', b);
        model.refuse(b, 'm', reason, at);
      }
      subscribe(c, 'q.dlq');
      delivered('m', c, { queue: 'q.dlq' });
      expect(clauses().includes('DLQ-015')).toBe(isAsked);
      expect(clauses()).toContain('DLQ-014');
    },
  );

  it('takes a delivery that is cut short for a failed attempt, but not for two', () => {
    create({ enableDeadLetterQueue: false, deadLetterQueue: '' });
    subscribe(b);
    publish('m');
    delivered('m', b);
    model.leave(b, at);
    info3(1);
    subscribe(c);
    delivered('m', c);
    model.leave(c, at);
    info3(0);
    expect(clauses()).toContain('DELIVERY-040');

    function info3(messageCount: number): void {
      model.ask();
      told(false);
      const fields = { name: 'q', deliveryMode: 0, maxSize: 2, overflowStrategy: 0, maxRetryAttempts: 2 };
      model.info('q', { ...fields, enableDeadLetterQueue: false, messageCount, subscriberCount: 0 });
    }
  });

  it('lets a message wait again for others than who acknowledged it', () => {
    create({ mode: 'FanOutWithAck' });
    subscribe(a);
    subscribe(b);
    publish('m');
    delivered('m', a);
    delivered('m', b);
    ack('m', a);
    model.leave(b, at);
    expect(model.due(true)).toBeUndefined();
    subscribe(c);
    expect(brokenBy(() => delivered('m', a))).toBe('DELIVERY-001');
    delivered('m', c);
    expect(clauses()).toContain('DELIVERY-021');
  });

  it('does not let a message that waits again come to who acknowledged it', () => {
    create({ mode: 'FanOutWithAck' });
    subscribe(a);
    subscribe(b);
    publish('m');
    delivered('m', a);
    delivered('m', b);
    ack('m', a);
    model.leave(b, at);
    // The count shows that it was not removed.
    info(1, 1, 1);
    expect(brokenBy(() => delivered('m', a))).toBe('DELIVERY-001');
  });

  it('gives up at what was under way at an Unsubscribe, which no state follows and no rule forbids', () => {
    create({ mode: 'FanOutWithAck' });
    subscribe(b);
    publish('m');
    delivered('m', b);
    publish('n');
    model.unsubscribe(b, 'q', at);
    delivered('n', b);
    expect(model.isLost).toBe(true);
    expect(brokenBy(() => delivered('never published', c))).toBeUndefined();
  });

  it('follows what was in flight when its queue was deleted', () => {
    create();
    subscribe(b);
    publish('m');
    delivered('m', b);
    model.delete('q', at);
    told(false);
    create();
    model.leave(b, at);
    subscribe(c);
    delivered('m', c);
    expect(clauses()).toContain('QUEUE-017');
  });

  it('lets a negative ack mean any delivery of its id, for their order is not known', () => {
    create();
    subscribe(b);
    publish('m');
    delivered('m', b);
    model.refuse(b, 'm', 'DeserializationError', at);
    publish('m');
    delivered('m', b);
    subscribe(b, 'q.dlq');
    delivered('m', b, { queue: 'q.dlq' });
    model.refuse(b, 'm', 'DeserializationError', at);
    expect(brokenBy(() => delivered('m', b, { queue: 'q.dlq' }))).toBeUndefined();
    expect(clauses()).not.toContain('DLQ-012');
  });
});
