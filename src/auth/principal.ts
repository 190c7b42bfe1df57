// Who a connection of a user is, as of this moment: reads the user store. Implements AUTH-016 and AUTH-017.

import type { Principal } from '../model/access.ts';
import type { StoredUser, UserStore } from './user-store.ts';

export function principalOf({ username, isSuperuser }: StoredUser, users: UserStore): Principal {
  return { username, isSuperuser, accessList: isSuperuser ? [] : users.accessList(username) };
}
