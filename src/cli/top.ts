// `truemq top`: a live table of the queues of a running broker, from the event stream of its dashboard. Reads the command line, and says what failed.

import { systemEnvironment } from '../gateway/system-environment.ts';
import { type Arguments, parseArguments, UsageError } from './arguments.ts';
import { type Command, type CommandContext, ExitCode } from './command.ts';
import { readCredentials } from './credentials.ts';
import { type EventRequest, openEvents, type StreamEnd } from './top/event-request.ts';
import { escaped } from './top/shown-text.ts';
import { type SortKey, sortKeys } from './top/sorting.ts';
import { printOnce, type WatchParts, watch } from './top/watch.ts';

const DEFAULT_URL = 'http://127.0.0.1:12925/';

const flags = {
  url: 'text',
  sort: 'text',
  once: 'switch',
  username: 'text',
  'password-file': 'text',
} as const;

export const top: Command = {
  help: `usage: truemq top [flags]

Shows the queues of a running broker, with new figures every second. It reads them from the broker's dashboard.

  --url URL             the address of the dashboard [${DEFAULT_URL}]
  --sort KEY            the first order: ${sortKeys.join(', ')} [waiting]
  --once                print one table as plain text, and end; so it is too when stdin or stdout is no terminal
  --username NAME       for a dashboard that asks for credentials; the password comes from TRUEMQ_PASSWORD, from
                        --password-file, or is asked for
  --password-file FILE  a file that contains the password

Keys: q or Ctrl-C quits; s sorts by the next column, or n by name, w waiting, f in flight, i in/s, o out/s, a oldest message;
r reverses; arrows, PageUp, PageDown, Home and End scroll; / finds queues by a part of the name, and Esc shows all again.

Exit code: 0 when the user quit or the table was printed, 1 when there is no connection, 2 for a wrong command line.`,

  async run(argv, context) {
    const given = parseArguments(argv, { flags, positionals: [] });
    const url = parseUrl(given.texts.get('url') ?? DEFAULT_URL);
    const sortKey = parseSortKey(given.texts.get('sort') ?? 'waiting');
    const request: EventRequest = {
      url: new URL('api/events', url),
      credentials: await basicCredentials(given, context),
      scheduler: systemEnvironment.scheduler,
    };
    const parts: WatchParts = {
      open: (receiver) => openEvents(request, receiver),
      url: url.href,
      sortKey,
      environment: systemEnvironment,
      onStopSignal: context.onStopSignal,
      onHangup: context.onHangup,
    };
    const { terminal } = context;
    const isOnce = given.switches.has('once') || terminal === undefined;
    const hasColor = !context.environment['NO_COLOR'];
    const end = isOnce ? await printOnce(parts, context.stdout) : await watch(parts, terminal, hasColor);
    if (end === undefined) return ExitCode.Done;
    context.stderr.write(failureText(end, url, request.credentials !== undefined));
    return ExitCode.Failed;
  },
};

/** The address with a slash at its end. @throws UsageError */
function parseUrl(text: string): URL {
  const whole = text.includes('://') ? text : `http://${text}`;
  const url = URL.canParse(whole) ? new URL(whole) : undefined;
  if (url !== undefined && url.username + url.password !== '')
    throw new UsageError('--url: contains a name or a password; --username says who asks');
  const isAddress = url !== undefined && /^https?:$/.test(url.protocol) && url.search + url.hash === '';
  if (!isAddress) {
    throw new UsageError(`--url: came ${JSON.stringify(text)}; allowed is an address like ${DEFAULT_URL}`);
  }
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return url;
}

/** @throws UsageError */
function parseSortKey(text: string): SortKey {
  const sortKey = sortKeys.find((key) => key === text);
  if (sortKey !== undefined) return sortKey;
  throw new UsageError(`--sort: came ${JSON.stringify(text)}; allowed is ${sortKeys.join(', ')}`);
}

async function basicCredentials(
  given: Arguments,
  context: CommandContext,
): Promise<EventRequest['credentials']> {
  const { username, password } = await readCredentials(given, context);
  if (username === undefined || password === undefined) return undefined;
  if (!username.includes(':')) return { username, password };
  throw new UsageError('--username: a name with a colon cannot be sent by HTTP Basic');
}

function failureText({ reason, asksForCredentials }: StreamEnd, url: URL, hadCredentials: boolean): string {
  const lines = [`no figures from ${url.href}: ${escaped(reason)}`];
  if (!asksForCredentials) lines.push('  does a broker run there with its dashboard on? --url says where');
  else if (hadCredentials) lines[0] = `the dashboard at ${url.href} refuses this name or password`;
  else lines.push('  --username with TRUEMQ_PASSWORD or --password-file says who asks');
  return lines.map((line) => `truemq: ${line}\n`).join('');
}
