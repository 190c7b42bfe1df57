// Where the dashboard of a broker is, and who asks it: the flags, the environment and the defaults of the commands that use it. Secrets come from the
// environment, a file or the terminal, as for the broker's port.

import { type Arguments, type FlagKind, UsageError } from '../arguments.ts';
import type { CommandContext } from '../command.ts';
import type { Credentials } from '../credentials.ts';

export const DEFAULT_DASHBOARD_URL = 'http://127.0.0.1:12925/';

export const DASHBOARD_VARIABLE = 'TRUEMQ_DASHBOARD_URL';

export const dashboardFlags = { 'dashboard-url': 'text' } as const satisfies Readonly<
  Record<string, FlagKind>
>;

export const DASHBOARD_HELP = `  --dashboard-url URL     the address of the broker's dashboard; else TRUEMQ_DASHBOARD_URL has it [${DEFAULT_DASHBOARD_URL}]`;

/** For HTTP Basic. */
export type BasicCredentials = { readonly username: string; readonly password: string };

export type DashboardAddress = {
  /** With a slash at its end. */
  readonly url: URL;
  readonly credentials: BasicCredentials | undefined;
};

/** The address that the flag or the environment gives; undefined: neither does. @throws UsageError */
export function givenDashboardUrl({ texts }: Arguments, { environment }: CommandContext): URL | undefined {
  const flag = texts.get('dashboard-url');
  if (flag !== undefined) return parseUrl('--dashboard-url', flag);
  const variable = environment[DASHBOARD_VARIABLE];
  return variable === undefined || variable === '' ? undefined : parseUrl(DASHBOARD_VARIABLE, variable);
}

/** @throws UsageError when HTTP Basic cannot carry the name */
export function basicCredentials({ username, password }: Credentials): BasicCredentials | undefined {
  if (username === undefined || password === undefined) return undefined;
  if (!username.includes(':')) return { username, password };
  throw new UsageError('--username: a name with a colon cannot be sent by HTTP Basic');
}

function parseUrl(origin: string, text: string): URL {
  const whole = text.includes('://') ? text : `http://${text}`;
  const url = URL.canParse(whole) ? new URL(whole) : undefined;
  // Also in a text that is no address: it must not be printed.
  if (text.includes('@') && (url === undefined || url.username + url.password !== ''))
    throw new UsageError(`${origin}: contains a name or a password; --username says who asks`);
  const isAddress = url !== undefined && /^https?:$/.test(url.protocol) && url.search + url.hash === '';
  if (!isAddress) {
    const came = JSON.stringify(text);
    throw new UsageError(`${origin}: came ${came}; allowed is an address like ${DEFAULT_DASHBOARD_URL}`);
  }
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return url;
}
