// `truemq-conformance probe`: observes a broker of which only the address is known, prints what it observed, and suggests a target file. It
// judges nothing and does no harm. Exit codes: 0 a broker of the protocol, 1 another server, 2 usage, 4 not reachable.
import type { Flag, ParsedFlags } from '../cli/flags.ts';
import { numberIn, parseFlags } from '../cli/flags.ts';
import type { Sources } from '../cli/sources.ts';
import type { Terminal } from '../cli/terminal.ts';
import type { Observation } from '../observation/observation.ts';
import { observe } from '../observation/observe.ts';
import { visibleLine } from '../report/visible-text.ts';
import { defaultPorts, parseAddress, parseUrl, urlAt } from '../target/address.ts';
import { attachedBroker } from '../target/broker.ts';
import { schemaLink } from '../target/schema-link.ts';
import { TargetFault } from '../target/target-fault.ts';
import type { Endpoints } from '../target/target-file.ts';
import { targetText } from '../target/target-text.ts';
import { writeTargetFile } from '../target/target-writer.ts';
import { timingFor } from '../timing.ts';
import { UsageError } from '../usage-error.ts';
import type { ExitCode } from '../verdict.ts';
import { exitCodes } from '../verdict.ts';
import type { Credentials } from '../wire/credentials.ts';

export const probeFlags: readonly Flag[] = [
  { name: 'health', kind: 'text', value: 'URL', help: 'the health server (default: port 2926 of the host)' },
  { name: 'dashboard', kind: 'text', value: 'URL', help: 'the dashboard (default: port 12925 of the host)' },
  { name: 'token', kind: 'text', value: 'TEXT', help: 'the token to connect with' },
  { name: 'username', kind: 'text', value: 'NAME', help: 'the user to connect as' },
  { name: 'password', kind: 'text', value: 'TEXT', help: 'the password of the user' },
  {
    name: 'out',
    kind: 'text',
    value: 'FILE',
    help: 'writes the suggested target file to this path, not to the console',
  },
  { name: 'force', kind: 'boolean', help: 'replaces an existing file' },
  { name: 'timeout-scale', kind: 'text', value: 'X', help: 'multiplies every deadline, for slow brokers' },
];

export async function probeCommand(
  args: readonly string[],
  _sources: Sources,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<ExitCode> {
  const flags = parseFlags(args, probeFlags);
  const [address] = flags.positionals;
  if (address === undefined || flags.positionals.length > 1)
    throw new UsageError('probe needs one address: probe 127.0.0.1:2925');
  const tcp = parseAddress(address);
  const scale = { low: 0.05, high: 100, whole: false };
  const timing = timingFor(numberIn('timeout-scale', flags.text('timeout-scale'), scale, 1));
  const urls = {
    healthUrl: parseUrl('health', flags.text('health') ?? urlAt(tcp.host, defaultPorts.health)),
    dashboardUrl: parseUrl('dashboard', flags.text('dashboard') ?? urlAt(tcp.host, defaultPorts.dashboard)),
  };
  try {
    await attachedBroker({ tcp }, timing);
  } catch (error) {
    if (!(error instanceof TargetFault)) throw error;
    terminal.err(`truemq-conformance: ${error.message}`);
    return exitCodes.target;
  }
  const credentials = credentialsOf(flags);
  const name = `probe-${Date.now().toString(36)}`;
  const seen = await observe({ tcp, timing, ...urls, credentials, name, signal });
  return tell(seen, tcp, flags, terminal);
}

function credentialsOf(flags: ParsedFlags): Credentials {
  const given = [
    ['authToken', flags.text('token')],
    ['authUsername', flags.text('username')],
    ['authPassword', flags.text('password')],
  ] as const;
  return Object.fromEntries(given.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

function tell(seen: Observation, tcp: Endpoints['tcp'], flags: ParsedFlags, terminal: Terminal): ExitCode {
  terminal.out(`what was seen at ${tcp.host}:${tcp.port}:`);
  for (const { topic, text } of seen.facts) terminal.out(`  ${topic.padEnd(14)}${visibleLine(text)}`);
  if (!seen.speaks) {
    const what = seen.demandsCredentials
      ? 'it needs credentials; nothing more was observed'
      : 'it does not speak the protocol; the doctor command may find the reason';
    terminal.out(`\n${what}`);
    return exitCodes.failed;
  }
  const path = flags.text('out');
  const text = suggestion(seen, tcp, path);
  if (path === undefined) {
    for (const line of ['', 'a target file for it:', '', text]) terminal.out(line);
    return exitCodes.open;
  }
  writeTargetFile(path, text, flags.boolean('force'));
  terminal.out(`\n${path} is written. Next: truemq-conformance run --target ${path}`);
  return exitCodes.open;
}

/** Suggests only profiles that an observation supports: the user decides what the broker claims. */
function suggestion(seen: Observation, tcp: Endpoints['tcp'], path: string | undefined): string {
  const window = seen.subscriberWindow;
  return targetText({
    origin: [
      'Suggested by `truemq-conformance probe` from its observations. You decide what the broker claims.',
    ],
    schemaLink: path === undefined ? undefined : schemaLink(path),
    name: `the broker at ${tcp.host}:${tcp.port}`,
    ...(seen.identity === undefined ? {} : { version: seen.identity }),
    lifecycle: { kind: 'attach' },
    endpoints: {
      tcp,
      ...(seen.healthUrl === undefined ? {} : { health: { url: seen.healthUrl } }),
      ...(seen.dashboardUrl === undefined ? {} : { dashboard: { url: seen.dashboardUrl } }),
    },
    profiles: ['core'],
    capabilities: seen.capabilities,
    ...(window === undefined || window < 2 ? {} : { limits: { subscriberWindow: window } }),
  });
}
