// The remembered lists of names are those of the present names and rights, and few.

import { describe, expect, it, vi } from 'vitest';
import { QueueOperation } from '../../model/access.ts';
import { AccessList } from './access-list.ts';
import { VisibleNames } from './visible-names.ts';

function userWith(queuePattern: string): AccessList {
  const entry = { queuePattern, operations: [QueueOperation.ListQueues] };
  return new AccessList({ username: 'alice', isSuperuser: false, accessList: [entry] });
}

describe('the names that a user is shown', () => {
  const names = ['a1', 'b1'];

  it('are the same array for the same names, so that a list costs its work once [AUTH-023]', () => {
    const visibleNames = new VisibleNames();
    const list = userWith('a*');
    expect(visibleNames.of(list, names)).toEqual(['a1']);
    expect(visibleNames.of(list, names)).toBe(visibleNames.of(list, names));
  });

  it('follow new names and new rights, and are each user’s own [AUTH-023]', () => {
    const visibleNames = new VisibleNames();
    const list = userWith('a*');
    visibleNames.of(list, names);
    expect(visibleNames.of(list, [...names, 'a2'])).toEqual(['a1', 'a2']);
    expect(visibleNames.of(userWith('b*'), names)).toEqual(['b1']);
  });

  it('are remembered for the last 16 users', () => {
    const visibleNames = new VisibleNames();
    const lists = Array.from({ length: 17 }, () => userWith('a*'));
    const [first, second] = lists.map((list) => vi.spyOn(list, 'visible'));
    for (const list of lists) visibleNames.of(list, names);
    for (const list of lists.slice(0, 2).reverse()) visibleNames.of(list, names);
    expect(second).toHaveBeenCalledTimes(1);
    expect(first).toHaveBeenCalledTimes(2);
  });
});
