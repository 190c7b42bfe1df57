// Every rule about the severity of a difference, as tables.

import { describe, expect, it } from 'vitest';
import type { QueueDetails } from '../queue-answers.ts';
import { differences } from './differences.ts';
import type { QueueDeclaration } from './queue-declaration.ts';

const live: QueueDetails = {
  name: 'orders',
  messageCount: 3,
  subscriberCount: 1,
  deliveryMode: 'RoundRobin',
  maxSize: 10_000,
  createdAt: new Date(0),
  messageTtlMs: undefined,
  enableDeadLetterQueue: false,
  deadLetterQueueName: undefined,
  overflowStrategy: 'DropOldest',
  maxRetryAttempts: 3,
};

type Declared = Omit<QueueDeclaration, 'name'>;

/** `option declared live severity` for each difference. */
function judged(declared: Declared, existing: Partial<QueueDetails> = {}): readonly string[] {
  return differences({ name: 'orders', ...declared }, { ...live, ...existing }).map((found) => {
    expect(found.queue).toBe('orders');
    return `${found.option} ${found.declared} ${found.live} ${found.severity}`;
  });
}

describe('a declaration', () => {
  it('differs in nothing that it omits [CLIENT-016]', () => {
    const other = {
      deliveryMode: 'FanOutWithAck',
      maxSize: 1,
      messageTtlMs: 5,
      maxRetryAttempts: 9,
    } as const;
    expect(judged({}, other)).toEqual([]);
    expect(
      judged(
        {},
        { enableDeadLetterQueue: true, deadLetterQueueName: 'x', overflowStrategy: 'RedirectToDlq' },
      ),
    ).toEqual([]);
  });

  it('differs in nothing when all options are equal [CLIENT-016]', () => {
    const declared: Declared = {
      mode: 'PriorityBased',
      maxQueueSize: 7,
      messageTtlMs: 1_000,
      enableDeadLetterQueue: true,
      deadLetterQueueName: 'failed',
      overflowStrategy: 'RedirectToDlq',
      maxRetryAttempts: 2,
    };
    const { mode, maxQueueSize, ...same } = declared;
    expect(judged(declared, { ...same, deliveryMode: 'PriorityBased', maxSize: 7 } as QueueDetails)).toEqual(
      [],
    );
  });

  it('has one difference for each option, with both values [CLIENT-016]', () => {
    const declared: Declared = {
      mode: 'FanOutWithAck',
      maxQueueSize: 1,
      messageTtlMs: 5,
      maxRetryAttempts: 9,
    };
    expect(judged(declared)).toEqual([
      'mode FanOutWithAck RoundRobin Hard',
      'maxQueueSize 1 10000 Info',
      'messageTtlMs 5 null Soft',
      'maxRetryAttempts 9 3 Info',
    ]);
  });
});

describe('mode', () => {
  it.each(['FanOutWithAck', 'FanOutWithoutAck', 'PriorityBased'] as const)(
    '%s is Hard, both ways [CLIENT-017]',
    (mode) => {
      expect(judged({ mode })).toEqual([`mode ${mode} RoundRobin Hard`]);
      expect(judged({ mode: 'RoundRobin' }, { deliveryMode: mode })).toEqual([
        `mode RoundRobin ${mode} Hard`,
      ]);
    },
  );
});

describe('maxQueueSize', () => {
  it.each([1, 9_999, 10_001])('%d is Info [CLIENT-018]', (maxQueueSize) => {
    expect(judged({ maxQueueSize })).toEqual([`maxQueueSize ${maxQueueSize} 10000 Info`]);
  });
});

describe('messageTtlMs', () => {
  it.each([
    [1_000, undefined, 'Soft'],
    [1_000, 1_000.5, 'Soft'],
    [1_000, 999.5, 'Info'],
    [1_000, 1, 'Info'],
    [null, 1, 'Info'],
  ])('%s, where the queue has %s, is %s [CLIENT-019]', (messageTtlMs, existing, severity) => {
    const expected = `messageTtlMs ${messageTtlMs} ${existing ?? null} ${severity}`;
    expect(judged({ messageTtlMs }, { messageTtlMs: existing })).toEqual([expected]);
  });

  it.each([
    [null, undefined],
    [1_000, 1_000],
    // A broker receives ten-thousandths of a millisecond.
    [0.12344, 0.1234],
  ])('%s is no difference to %s [CLIENT-019]', (messageTtlMs, existing) => {
    expect(judged({ messageTtlMs }, { messageTtlMs: existing })).toEqual([]);
  });
});

describe('enableDeadLetterQueue', () => {
  it.each([
    [true, 'Info'],
    [false, 'Soft'],
  ])('%s is %s [CLIENT-020]', (enableDeadLetterQueue, severity) => {
    const existing = { enableDeadLetterQueue: !enableDeadLetterQueue };
    const expected = `enableDeadLetterQueue ${enableDeadLetterQueue} ${!enableDeadLetterQueue} ${severity}`;
    expect(judged({ enableDeadLetterQueue }, existing)).toEqual([expected]);
  });
});

describe('deadLetterQueueName', () => {
  const on = { enableDeadLetterQueue: true } as const;

  it.each([
    ['failed', undefined, 'orders.dlq'],
    ['failed', 'lost', 'lost'],
    ['orders.dlq', 'lost', 'lost'],
  ])(
    '%s, where the queue has %s, is Hard when both have a dead letter queue [CLIENT-021]',
    (deadLetterQueueName, existing, shown) => {
      const found = judged({ ...on, deadLetterQueueName }, { ...on, deadLetterQueueName: existing });
      expect(found).toEqual([`deadLetterQueueName ${deadLetterQueueName} ${shown} Hard`]);
    },
  );

  it('is no difference when the default name is written out [CLIENT-021]', () => {
    expect(judged({ ...on, deadLetterQueueName: 'orders.dlq' }, on)).toEqual([]);
  });

  it('is no difference unless both have a dead letter queue [CLIENT-021]', () => {
    const off = { enableDeadLetterQueue: false };
    expect(judged({ ...on, deadLetterQueueName: 'a' })).toEqual(['enableDeadLetterQueue true false Info']);
    expect(judged({ ...off, deadLetterQueueName: 'a' }, on)).toEqual([
      'enableDeadLetterQueue false true Soft',
    ]);
    expect(judged({ deadLetterQueueName: 'a' }, on)).toEqual([]);
    expect(judged({ ...off, deadLetterQueueName: 'a' })).toEqual([]);
  });
});

describe('overflowStrategy', () => {
  const on = { enableDeadLetterQueue: true } as const;

  it.each([
    ['DropNewest', 'DropOldest', {}, 'Info'],
    ['BlockPublisher', 'DropOldest', on, 'Info'],
    ['DropOldest', 'RedirectToDlq', on, 'Info'],
    ['RedirectToDlq', 'DropOldest', on, 'Info'],
    ['RedirectToDlq', 'DropOldest', {}, 'Hard'],
    ['RedirectToDlq', 'BlockPublisher', {}, 'Hard'],
  ] as const)(
    '%s, where the queue has %s and %j, is %s [CLIENT-022]',
    (overflowStrategy, existing, deadLetters, severity) => {
      const found = judged({ overflowStrategy }, { ...deadLetters, overflowStrategy: existing });
      expect(found).toEqual([`overflowStrategy ${overflowStrategy} ${existing} ${severity}`]);
    },
  );
});

describe('maxRetryAttempts', () => {
  it.each([1, 2, 4])('%d is Info [CLIENT-023]', (maxRetryAttempts) => {
    expect(judged({ maxRetryAttempts })).toEqual([`maxRetryAttempts ${maxRetryAttempts} 3 Info`]);
  });
});
