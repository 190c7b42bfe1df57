// The user as which a load logs in, on a broker that the runner has started with a superuser: it has an access list of three entries, and
// only the last of them allows what the load does. Area: AUTH.
import type { AdminCommandName } from '../../wire/command.ts';
import { Command } from '../../wire/command.ts';
import type { Credentials } from '../../wire/credentials.ts';
import { operations } from '../../wire/operations.ts';
import type { Address } from './load-link.ts';
import { LoadLink } from './load-link.ts';

const user = { username: 'load', password: 'password of load' } as const;

const accessList = [
  { queuePattern: 'orders-*', operations: ['Publish'] },
  { queuePattern: 'invoices-*', operations: ['Subscribe', 'GetQueueInfo'] },
  { queuePattern: '*', operations },
] as const;

/** Makes the user as the superuser, and returns its credentials. Throws a LoadFault. */
export async function makeLoadUser(
  address: Address,
  superuser: { readonly username: string; readonly password: string },
): Promise<Credentials> {
  const credentials = { authUsername: superuser.username, authPassword: superuser.password };
  const link = await LoadLink.open({ ...address, credentials });
  const ask = (command: AdminCommandName, content: object): Promise<unknown> =>
    link.request({ command: Command[command], payload: JSON.stringify(content) });
  await ask('AdminCreateUser', user);
  for (const entry of accessList) await ask('AdminGrantPermission', { username: user.username, ...entry });
  link.close();
  return { authUsername: user.username, authPassword: user.password };
}
