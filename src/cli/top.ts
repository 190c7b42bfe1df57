// `truemq top`: a live table of the queues of a running broker, from the event stream of its dashboard. Reads the command line, and says what failed.

import { systemEnvironment } from '../gateway/system-environment.ts';
import { parseArguments, parseChoice } from './arguments.ts';
import { type Command, ExitCode } from './command.ts';
import { readCredentials } from './credentials.ts';
import {
  basicCredentials,
  DASHBOARD_HELP,
  DEFAULT_DASHBOARD_URL,
  dashboardFlags,
  givenDashboardUrl,
} from './dashboard/dashboard-address.ts';
import { type EventRequest, openEvents, type StreamEnd } from './top/event-request.ts';
import { escaped } from './top/shown-text.ts';
import { sortKeys } from './top/sorting.ts';
import { printOnce, type WatchParts, watch } from './top/watch.ts';

const flags = {
  ...dashboardFlags,
  sort: 'text',
  once: 'switch',
  username: 'text',
  'password-file': 'text',
} as const;

export const top: Command = {
  help: `usage: truemq top [flags]

Shows the queues of a running broker, with new figures every second. It reads them from the broker's dashboard.

${DASHBOARD_HELP}
  --sort ${sortKeys.join('|')}
                          the first order [waiting]
  --once                  print one table as plain text, and end; so it is too when stdin or stdout is no terminal
  --username NAME         for a dashboard that asks for credentials; the password comes from TRUEMQ_PASSWORD, from
                          --password-file, or is asked for
  --password-file FILE    a file that contains the password

Keys: q or Ctrl-C quits; s sorts by the next column, or n by name, w waiting, f in flight, i in/s, o out/s, a oldest message;
r reverses; arrows, PageUp, PageDown, Home and End scroll; / finds queues by a part of the name, and Esc shows all again.

Exit code: 0 when the user quit or the table was printed, 1 when there is no connection, 2 for a wrong command line.`,

  async run(argv, context) {
    const given = parseArguments(argv, { flags, positionals: [] });
    const url = givenDashboardUrl(given, context) ?? new URL(DEFAULT_DASHBOARD_URL);
    const sortKey = parseChoice('sort', given.texts.get('sort') ?? 'waiting', sortKeys);
    const request: EventRequest = {
      url: new URL('api/events', url),
      credentials: basicCredentials(await readCredentials(given, context)),
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

function failureText({ reason, asksForCredentials }: StreamEnd, url: URL, hadCredentials: boolean): string {
  const lines = [`no figures from ${url.href}: ${escaped(reason)}`];
  if (!asksForCredentials)
    lines.push('  does a broker run there with its dashboard on? --dashboard-url says where');
  else if (hadCredentials) lines[0] = `the dashboard at ${url.href} refuses this name or password`;
  else lines.push('  --username with TRUEMQ_PASSWORD or --password-file says who asks');
  return lines.map((line) => `truemq: ${line}\n`).join('');
}
