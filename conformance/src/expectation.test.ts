// What a failure shows: values as JSON, without terms of the runner's programming language.
import { describe, expect, it } from 'vitest';
import { assertionsFor } from './assertions.ts';
import { inQueueInfo, requiredField } from './checks/shared/required-fields.ts';
import { Evidence } from './evidence.ts';
import { display, ExpectationFailure } from './expectation.ts';

function failureOf(run: () => void): ExpectationFailure {
  try {
    run();
  } catch (error) {
    if (error instanceof ExpectationFailure) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

describe('display', () => {
  it.each([
    ['a text', '"a text"'],
    [undefined, 'nothing'],
    [['High', undefined], '["High","nothing"]'],
    [{ name: undefined }, '{"name":"nothing"}'],
    [Number.NaN, '"not a number"'],
    [Buffer.from('ff', 'hex'), 'bytes ff'],
  ])('shows %j as %s', (value, text) => {
    expect(display(value)).toBe(text);
  });
});

describe('a failed assertion', () => {
  const assert = assertionsFor(new Evidence());

  it('about a JSON value shows both texts', () => {
    assert.sameJson(Buffer.from('{"n":1.0}'), ' {"n":1}', 'the payload');
    const failure = failureOf(() =>
      assert.sameJson(Buffer.from('1e400'), 'null', 'the payload', 'DELIVERY-053'),
    );
    expect(failure).toMatchObject({
      message: 'the payload',
      expected: 'the JSON value "null"',
      actual: '"1e400"',
      clause: 'DELIVERY-053',
    });
    expect(failureOf(() => assert.sameJson(undefined, '1', 'the payload')).actual).toBe('nothing');
  });
});

describe('a failed assertion about a time', () => {
  it('shows the unit of the expected and of the actual time', () => {
    const assert = assertionsFor(new Evidence());
    assert.betweenMs(20, 0, 20, 'the gap');
    expect(failureOf(() => assert.betweenMs(20.26, 0, 20, 'the gap', 'RETRY-001'))).toMatchObject({
      message: 'the gap',
      expected: 'from 0 to 20 ms',
      actual: '20.3 ms',
      clause: 'RETRY-001',
    });
  });
});

describe('fieldOf', () => {
  it('returns a field that is there', () => {
    expect(requiredField({ messageCount: 0 }, 'messageCount', inQueueInfo)).toBe(0);
  });

  it('names the field that is missing, and where', () => {
    expect(failureOf(() => requiredField({ name: 'q' }, 'subscriberCount', inQueueInfo))).toMatchObject({
      message: 'field subscriberCount is missing from QueueInfo',
      expected: 'field subscriberCount',
      actual: '{"name":"q"}',
      clause: 'QUEUE-021',
    });
  });
});
