// The users of open connections: who shares rights with whom, and until when.

import { describe, expect, it } from 'vitest';
import type { Principal } from '../model/access.ts';
import { Connection } from './connections.ts';
import { Users } from './users.ts';

const principal = (username: string): Principal => ({ username, isSuperuser: false, accessList: [] });
const connection = (): Connection => new Connection(1);
const accessListOf = ({ rights }: Connection) => rights?.accessList;

describe('users', () => {
  it('share their rights among all their connections, and with nobody else', () => {
    const users = new Users();
    const [first, second, other] = [connection(), connection(), connection()];
    users.join(first, principal('ada'));
    const latest = principal('ada');
    users.join(second, latest);
    users.join(other, principal('bob'));
    expect(first.rights).toBe(second.rights);
    expect(accessListOf(first)?.principal).toBe(latest);
    expect(other.rights).not.toBe(first.rights);
    expect(accessListOf(other)?.principal.username).toBe('bob');
  });

  it('change for all their connections at once; the same rights change nothing [AUTH-027]', () => {
    const users = new Users();
    const [first, second] = [connection(), connection()];
    users.join(first, principal('ada'));
    users.join(second, principal('ada'));
    const changed = principal('ada');
    expect([...users.change(changed)]).toEqual([first, second]);
    const list = accessListOf(first);
    expect(list?.principal).toBe(changed);
    users.change(changed);
    expect(accessListOf(first)).toBe(list);
  });

  it('that are not connected have no connections to change', () => {
    const users = new Users();
    const [first, second] = [connection(), connection()];
    users.join(first, principal('ada'));
    users.join(second, principal('ada'));
    expect(users.change(principal('bob')).size).toBe(0);
    users.leave(first);
    expect([...users.change(principal('ada'))]).toEqual([second]);
    users.leave(second);
    expect(users.change(principal('ada')).size).toBe(0);
  });

  it('leave without a word when their connection never had a user', () => {
    const users = new Users();
    const [known, unknown] = [connection(), connection()];
    users.join(known, principal('ada'));
    users.leave(unknown);
    expect([...users.change(principal('ada'))]).toEqual([known]);
  });
});
