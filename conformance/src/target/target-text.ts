// Writes a target file for a person: YAML with an explanation of every key; unused keys are comments. The result passes the published
// schema. Pure.
import { capabilities as capabilityMeanings, profileNames } from '../catalogue-words.ts';
import type { Target } from './target-file.ts';

export type TargetDraft = Pick<
  Target,
  'name' | 'version' | 'lifecycle' | 'endpoints' | 'profiles' | 'capabilities' | 'limits'
> & {
  /** The place of the schema, for editors: a path relative to the file, or a URL. */
  readonly schemaLink?: string | undefined;
  /** Comment lines above the first key: how the file was made. */
  readonly origin: readonly string[];
};

export function targetText(draft: TargetDraft): string {
  const sections = [
    headLines(draft),
    nameLines(draft),
    lifecycleLines(draft.lifecycle),
    endpointLines(draft),
    profileLines(draft),
    capabilityLines(draft),
    configuredLines(draft),
    redactionLines(),
  ];
  const text = sections.filter((lines) => lines.length > 0).map((lines) => lines.join('\n'));
  return `${text.join('\n\n')}\n`;
}

function headLines({ schemaLink, origin }: TargetDraft): readonly string[] {
  const link = schemaLink === undefined ? [] : [`# yaml-language-server: $schema=${schemaLink}`];
  const key = schemaLink === undefined ? [] : [`$schema: ${quoted(schemaLink)}`];
  return [...link, ...origin.map((line) => `# ${line}`), ...key, 'schema: 1 # the version of this format'];
}

function nameLines({ name, version }: TargetDraft): readonly string[] {
  return [
    '# What reports call the broker. Its version is what the adapter answers, unless it is given here.',
    `name: ${quoted(name)}`,
    version === undefined ? '# version: "1.0"' : `version: ${quoted(version)}`,
    '# url: https://example.org/my-broker',
  ];
}

function lifecycleLines(lifecycle: Target['lifecycle']): readonly string[] {
  switch (lifecycle.kind) {
    case 'spawn':
      return [
        '# How the runner reaches the broker. `spawn`: it starts an adapter, a small program of yours, once for each configuration',
        '# that the checks need, and reads from its standard output where the broker listens.',
        'lifecycle:',
        '  kind: spawn',
        '  # The program and its arguments, one entry each. No shell is used.',
        `  command: [${lifecycle.command.map(quoted).join(', ')}]`,
        '  # The folder that it runs in, relative to this file.',
        lifecycle.cwd === undefined ? '  # cwd: .' : `  cwd: ${quoted(lifecycle.cwd)}`,
        '  # Environment variables, in addition to those of the runner.',
        '  # environment: { MY_BROKER_LOG: debug }',
      ];
    case 'attach':
      return [
        '# How the runner reaches the broker. `attach`: it runs already, and stays as it is. Checks that need another configuration or a',
        '# restart could not run then; `spawn` and `hooks` can do more.',
        'lifecycle:',
        '  kind: attach',
      ];
    case 'hooks':
      return [
        '# How the runner reaches the broker. `hooks`: shell commands start and stop it. They get their settings in environment variables',
        '# that begin with CONFORMANCE_: CONFORMANCE_TCP_PORT, CONFORMANCE_DATA_DIRECTORY, CONFORMANCE_CONFIGURATION and more.',
        'lifecycle:',
        '  kind: hooks',
        '  # May stay for as long as the broker runs, or return.',
        `  start: ${quoted(lifecycle.start)}`,
        '  # Stops it in an orderly way, and returns when it has ended.',
        `  stop: ${quoted(lifecycle.stop)}`,
        '  # Kills it at once. Where `start` stays, the runner can do that itself.',
        hookLine('crash', lifecycle.crash, 'kill -9 $(cat "$CONFORMANCE_DATA_DIRECTORY/pid")'),
        '  # Removes what earlier instances have stored, before a new one starts.',
        hookLine('reset', lifecycle.reset, 'rm -rf data'),
        '  # Settings that `start` honours from CONFORMANCE_CONFIGURATION; checks that need other settings could not run.',
        '  # honours: [timing, limits.maxConnections]',
      ];
  }
}

function hookLine(name: string, line: string | undefined, example: string): string {
  return line === undefined ? `  # ${name}: ${quoted(example)}` : `  ${name}: ${quoted(line)}`;
}

function endpointLines({ endpoints }: TargetDraft): readonly string[] {
  if (endpoints === undefined) return [];
  const { tcp, health, dashboard } = endpoints;
  return [
    '# Where it listens. The health server and the dashboard are needed by the profiles observability and dashboard only.',
    'endpoints:',
    `  tcp: { host: ${quoted(tcp.host)}, port: ${tcp.port} }`,
    surfaceLine('health', health, 'http://127.0.0.1:2926'),
    surfaceLine('dashboard', dashboard, 'http://127.0.0.1:12925'),
  ];
}

function surfaceLine(name: string, surface: { readonly url: string } | undefined, example: string): string {
  return surface === undefined
    ? `  # ${name}: { url: ${quoted(example)} }`
    : `  ${name}: { url: ${quoted(surface.url)} }`;
}

function profileLines({ profiles = ['core'] }: TargetDraft): readonly string[] {
  return [
    '# What the broker claims: `run` without --profile checks these, and holds it to every MUST in them. There are',
    ...wrapped(`${profileNames.join(', ')} (all of them).`),
    `profiles: [${profiles.join(', ')}]`,
  ];
}

function capabilityLines({ capabilities = [] }: TargetDraft): readonly string[] {
  const width = Math.max(...Object.keys(capabilityMeanings).map((name) => name.length)) + 2;
  const table = Object.entries(capabilityMeanings);
  return [
    '# Optional features of the broker. The checks of the named features run; the others are left out.',
    ...table.map(([name, meaning]) => `#   ${name.padEnd(width)}${meaning}`),
    `capabilities: [${capabilities.join(', ')}]`,
  ];
}

function configuredLines({ lifecycle, limits }: TargetDraft): readonly string[] {
  const window = limits?.subscriberWindow;
  const windowLines = [
    '  # How many unacknowledged messages a new subscription gets; the runner assumes 1.',
    window === undefined ? '  # subscriberWindow: 8' : `  subscriberWindow: ${window}`,
  ];
  if (lifecycle.kind === 'spawn') {
    const key = window === undefined ? '# limits:' : 'limits:';
    const lines =
      window === undefined ? windowLines.map((line) => `#${line.replace('# ', '')}`) : windowLines;
    return ['# Limits of the broker that the adapter cannot change.', key, ...lines];
  }
  return [
    '# What it was configured with, where that differs from the defaults of the specification. These rates are the defaults: raise',
    '# them, or take them away, when the broker has others or none, and the run takes less time.',
    'limits:',
    '  maxConnectionsPerIpPerWindow: 20',
    '  connectionWindowMs: 60000',
    '  maxMessagesPerClientPerSecond: 1000',
    ...windowLines,
    '# timing:',
    '#   ackTimeoutMs: 30000',
    '#   retryDelayMs: 1000',
  ];
}

function redactionLines(): readonly string[] {
  return [
    '# Regular expressions; matching text is blacked out in every report.',
    "# redactions: ['token-[a-z0-9]+']",
  ];
}

function wrapped(text: string): readonly string[] {
  const words = text.split(' ');
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length > 110) lines.push(`# ${word}`);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** JSON is YAML: a text in double quotes means the same in both. */
function quoted(text: string): string {
  return JSON.stringify(text);
}
