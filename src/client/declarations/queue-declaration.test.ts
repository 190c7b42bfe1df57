// What is wrong with a declaration is found without a broker.

import { describe, expect, it } from 'vitest';
import { ClientError } from '../errors.ts';
import {
  type ConflictStrategy,
  checkDeclarations,
  DeclarationError,
  declaredOptions,
  type QueueDeclaration,
} from './queue-declaration.ts';

const refusal = (queues: readonly unknown[]) => () =>
  checkDeclarations(queues as readonly QueueDeclaration[]);

describe('the check of declarations', () => {
  it('accepts names alone, all options, and options that are undefined or null', () => {
    const all = {
      name: 'b',
      mode: 'PriorityBased',
      maxQueueSize: 1,
      messageTtlMs: 0.1,
      enableDeadLetterQueue: true,
      deadLetterQueueName: 'a',
      overflowStrategy: 'RedirectToDlq',
      maxRetryAttempts: 1,
    };
    expect(refusal([{ name: 'a' }, all, { name: 'c', mode: undefined, messageTtlMs: null }])).not.toThrow();
  });

  it.each([{}, { enableDeadLetterQueue: false }])(
    'refuses RedirectToDlq without a dead letter queue: %j [CLIENT-028]',
    (deadLetters) => {
      const problem = 'declared queue q: overflowStrategy RedirectToDlq needs enableDeadLetterQueue';
      expect(refusal([{ name: 'q', overflowStrategy: 'RedirectToDlq', ...deadLetters }])).toThrow(problem);
    },
  );

  it.each([
    [{ name: 'a b' }, 'declared queue "a b": a queue name has 1 to 256 letters, digits, "-", "_" or "."'],
    [{}, 'declared queue undefined: a queue name has 1 to 256 letters, digits, "-", "_" or "."'],
    [{ name: 'q', maxQueueSize: 0 }, 'declared queue q: maxQueueSize must be 1 to 2147483647'],
    [{ name: 'q', maxQueueSize: '9' }, 'declared queue q: maxQueueSize must be a number'],
    [{ name: 'q', maxRetryAttempts: 1.5 }, 'declared queue q: maxRetryAttempts must be 1 to 2147483647'],
    [
      { name: 'q', messageTtlMs: 0 },
      'declared queue q: messageTtl must be more than zero and at most 10000 days',
    ],
    [{ name: 'q', messageTtlMs: Number.NaN }, 'declared queue q: messageTtl must be more than zero'],
    [{ name: 'q', enableDeadLetterQueue: 1 }, 'declared queue q: enableDeadLetterQueue must be a boolean'],
    [
      { name: 'q', enableDeadLetterQueue: true, deadLetterQueueName: 'q' },
      'declared queue q: a queue cannot be its own dead letter queue',
    ],
    [{ name: 'q', deadLetterQueueName: 'a/b' }, 'declared queue q: deadLetterQueueName must be a queue name'],
    [
      { name: 'q', mode: 'Fanout' },
      'declared queue q: mode must be one of RoundRobin, FanOutWithAck, FanOutWithoutAck, PriorityBased',
    ],
    [
      { name: 'q', overflowStrategy: 'toString' },
      'declared queue q: overflowStrategy must be one of DropOldest, DropNewest,',
    ],
    [
      { name: 'q', maxSize: 1 },
      'declared queue q: unknown option maxSize; options are mode, maxQueueSize, messageTtlMs,',
    ],
    [{ name: 'q', constructor: 1 }, 'declared queue q: unknown option constructor'],
  ])('refuses %j', (declared, problem) => {
    expect(refusal([declared])).toThrow(DeclarationError);
    expect(refusal([declared])).toThrow(problem);
    expect(new DeclarationError(problem)).toMatchObject({
      code: 'INVALID_DECLARATION',
      name: 'DeclarationError',
    });
    expect(new DeclarationError(problem)).toBeInstanceOf(ClientError);
  });

  it('refuses a queue that is declared twice', () => {
    expect(refusal([{ name: 'a' }, { name: 'b' }, { name: 'a', mode: 'RoundRobin' }])).toThrow(
      'declared queue a: it is declared twice',
    );
  });

  it('refuses an unknown strategy', () => {
    expect(() => checkDeclarations([], 'Fail')).not.toThrow();
    expect(() => checkDeclarations([], 'fail' as ConflictStrategy)).toThrow(
      'must be one of Ignore, Fail, Override',
    );
  });
});

describe('the options for CreateQueue', () => {
  it('are none for a name alone, so that the broker uses its own', () => {
    expect(declaredOptions({ name: 'q' })).toBeUndefined();
    expect(declaredOptions({ name: 'q', mode: undefined } as unknown as QueueDeclaration)).toBeUndefined();
  });

  it('are those that are declared', () => {
    expect(declaredOptions({ name: 'q', maxQueueSize: 1, messageTtlMs: 5 })).toEqual({
      maxQueueSize: 1,
      messageTtlMs: 5,
    });
    expect(declaredOptions({ name: 'q', messageTtlMs: null })).toEqual({});
  });
});
