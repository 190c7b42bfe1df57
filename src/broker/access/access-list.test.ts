// Access lists compiled: what they allow, what they show, and that what they remember is what they decided.

import { describe, expect, it } from 'vitest';
import { type AccessEntry, QueueOperation } from '../../model/access.ts';
import { AccessList } from './access-list.ts';

const { Publish, Subscribe, ListQueues } = QueueOperation;

function listOf(...accessList: readonly AccessEntry[]): AccessList {
  return new AccessList({ username: 'alice', isSuperuser: false, accessList });
}

describe('an access list', () => {
  it('allows the operations of an entry on the queues that its pattern matches, and nothing else [AUTH-016]', () => {
    const list = listOf({ queuePattern: 'orders.*', operations: [Publish] });
    expect(list.allows(Publish, 'orders.eu')).toBe(true);
    expect(list.allows(Subscribe, 'orders.eu')).toBe(false);
    expect(list.allows(Publish, 'secret')).toBe(false);
  });

  it('adds up the entries that match [AUTH-020]', () => {
    const list = listOf(
      { queuePattern: 'orders.*', operations: [Publish] },
      { queuePattern: '*.EU', operations: [Subscribe] },
    );
    const allowed = (queue: string) => [list.allows(Publish, queue), list.allows(Subscribe, queue)];
    expect(['orders.eu', 'orders.us', 'bills.eu', 'secret'].map(allowed)).toEqual([
      [true, true],
      [true, false],
      [false, true],
      [false, false],
    ]);
  });

  it('of a superuser allows everything without an entry [AUTH-017]', () => {
    const list = new AccessList({ username: 'root', isSuperuser: true, accessList: [] });
    expect(Object.values(QueueOperation).every((operation) => list.allows(operation, 'any'))).toBe(true);
    expect(list.allowsSomewhere(ListQueues)).toBe(true);
    expect(list.visible(['a', 'b'])).toEqual(['a', 'b']);
  });

  it('without entries allows nothing and shows nothing [AUTH-016, AUTH-023]', () => {
    const list = listOf();
    expect(Object.values(QueueOperation).some((operation) => list.allows(operation, 'any'))).toBe(false);
    expect(list.allowsSomewhere(ListQueues)).toBe(false);
    expect(list.visible(['any'])).toEqual([]);
  });

  it('decides the same when it is asked again, for more names than it remembers [AUTH-016]', () => {
    const list = listOf({ queuePattern: '*7', operations: [Publish] });
    const names = Array.from({ length: 1000 }, (_, number) => `queue-${number}`);
    for (const _ of ['first', 'again']) {
      for (const name of names) expect(list.allows(Publish, name)).toBe(name.endsWith('7'));
    }
  });
});

describe('the names that a user is shown', () => {
  it('are those that some pattern matches, whatever it allows [AUTH-023]', () => {
    const list = listOf(
      { queuePattern: 'orders.*', operations: [Publish] },
      { queuePattern: 'empty', operations: [] },
    );
    expect(list.visible(['orders.eu', 'secret', 'Empty', 'orders'])).toEqual(['orders.eu', 'Empty']);
  });
});
