// `truemq-conformance init`: writes a target file whose comments explain every key. It asks for missing values if there is a terminal, never
// waits otherwise, and replaces an existing file only with --force.
import { resolve } from 'node:path';
import type { ProfileName } from '../catalogue-words.ts';
import { capabilities as capabilityMeanings, profileNames } from '../catalogue-words.ts';
import type { Flag, ParsedFlags } from '../cli/flags.ts';
import { oneOf, parseFlags } from '../cli/flags.ts';
import type { Sources } from '../cli/sources.ts';
import type { Terminal } from '../cli/terminal.ts';
import { parseAddress, parseUrl } from '../target/address.ts';
import { schemaLink } from '../target/schema-link.ts';
import type { Endpoints, Target } from '../target/target-file.ts';
import { parseTarget } from '../target/target-file.ts';
import { targetText } from '../target/target-text.ts';
import { writeTargetFile } from '../target/target-writer.ts';
import { didYouMean, UsageError } from '../usage-error.ts';
import type { ExitCode } from '../verdict.ts';
import { exitCodes } from '../verdict.ts';
import { wordsOf } from './words.ts';

export const initFlags: readonly Flag[] = [
  { name: 'name', kind: 'text', value: 'TEXT', help: 'the name of the broker in reports' },
  { name: 'command', kind: 'text', value: 'LINE', help: 'the adapter to start: "python3 adapter.py"' },
  {
    name: 'address',
    kind: 'text',
    value: 'HOST:PORT',
    help: 'the address where it already runs, or where the hooks start it',
  },
  {
    name: 'start',
    kind: 'text',
    value: 'LINE',
    help: 'the shell command that starts it (with --address, --stop)',
  },
  { name: 'stop', kind: 'text', value: 'LINE', help: 'the shell command that stops it' },
  { name: 'crash', kind: 'text', value: 'LINE', help: 'the shell command that kills it' },
  { name: 'health', kind: 'text', value: 'URL', help: 'its health server (with --address)' },
  { name: 'dashboard', kind: 'text', value: 'URL', help: 'its dashboard (with --address)' },
  { name: 'profile', kind: 'many', value: 'NAME', help: 'a profile that it claims (default: core)' },
  { name: 'capability', kind: 'many', value: 'NAME', help: 'an optional feature that it has' },
  { name: 'out', kind: 'text', value: 'FILE', help: 'the file to write (default: target.yaml)' },
  { name: 'force', kind: 'boolean', help: 'replaces an existing file' },
  { name: 'yes', kind: 'boolean', help: 'asks nothing and uses the defaults for missing values' },
];

type Answers = {
  readonly name: string;
  readonly lifecycle: Target['lifecycle'];
  readonly endpoints?: Endpoints;
  readonly profiles: readonly ProfileName[];
};

const defaults = { name: 'my broker', profile: 'core', out: 'target.yaml' } as const;

export async function initCommand(
  args: readonly string[],
  _sources: Sources,
  terminal: Terminal,
): Promise<ExitCode> {
  const flags = parseFlags(args, initFlags);
  if (flags.positionals.length > 0)
    throw new UsageError(`init takes no argument, ${flags.positionals[0]} came`);
  const answers = await answersOf(flags, asker(flags, terminal));
  const path = flags.text('out') ?? defaults.out;
  const text = targetText({
    origin: [
      `What truemq-conformance needs to know about one broker. Try it: truemq-conformance doctor --target ${path}`,
    ],
    schemaLink: schemaLink(path),
    ...answers,
    capabilities: capabilitiesOf([...new Set(flags.many('capability'))]),
  });
  // The written file must be one that `run` accepts, so it is read again.
  parseTarget(text, path);
  writeTargetFile(path, text, flags.boolean('force'));
  for (const line of nextLines(path)) terminal.out(line);
  return exitCodes.open;
}

function nextLines(path: string): readonly string[] {
  return [
    `${path} is written (${resolve(path)}).`,
    '',
    `Next:  truemq-conformance doctor --target ${path}              does it start, answer, stop?`,
    `Then:  truemq-conformance run --target ${path} --profile core  the verdict`,
  ];
}

/** Asks for a missing value; undefined if there is no terminal. */
type Asker = ((question: string, otherwise: string) => Promise<string>) | undefined;

function asker(flags: ParsedFlags, { ask }: Terminal): Asker {
  if (flags.boolean('yes') || ask === undefined) return undefined;
  return async (question, otherwise) => {
    const hint = otherwise === '' ? '' : ` [${otherwise}]`;
    const answer = (await ask(`${question}${hint}: `)).trim();
    return answer === '' ? otherwise : answer;
  };
}

async function answersOf(flags: ParsedFlags, ask: Asker): Promise<Answers> {
  const name = await given(flags, ask, 'name', 'What is your broker called', defaults.name);
  const reached = await reachedBy(flags, ask);
  const words = flags.many('profile');
  const asked = words.length > 0 || ask === undefined ? words : (await askProfiles(ask)).split(/[\s,]+/);
  const profiles = [...new Set(asked.length === 0 ? [defaults.profile] : asked)].map((word) =>
    oneOf('profile', word, profileNames, defaults.profile),
  );
  return { name, ...reached, profiles };
}

function askProfiles(ask: NonNullable<Asker>): Promise<string> {
  return ask(`What does it claim? Some of ${profileNames.join(', ')}`, defaults.profile);
}

async function given(
  flags: ParsedFlags,
  ask: Asker,
  flag: string,
  question: string,
  otherwise: string,
): Promise<string> {
  const value = flags.text(flag);
  if (value !== undefined) return value;
  if (ask !== undefined) return ask(question, otherwise);
  if (flags.boolean('yes')) return otherwise;
  throw missing(flag, flags);
}

function missing(flag: string, flags: ParsedFlags): UsageError {
  return new UsageError(
    [
      `--${flag} is missing, and ${flags.boolean('yes') ? 'it has no default' : 'there is no terminal to ask on'}. Say, for example`,
      '  init --name "My Broker" --command "python3 adapter.py"       a broker that an adapter starts',
      '  init --name "My Broker" --address 127.0.0.1:2925             a broker that already runs',
      '  init --name "My Broker" --address 127.0.0.1:2925 --start "./up.sh" --stop "./down.sh"',
      ...(flags.boolean('yes') ? [] : ['and --yes for the defaults of other missing values.']),
    ].join('\n'),
  );
}

async function reachedBy(flags: ParsedFlags, ask: Asker): Promise<Pick<Answers, 'lifecycle' | 'endpoints'>> {
  const kind = kindOf(flags) ?? (await askKind(flags, ask));
  if (kind === 'spawn') {
    const line = flags.text('command') ?? (await ask?.('The command that starts the adapter', '')) ?? '';
    const command = wordsOf(line);
    if (command.length === 0)
      throw new UsageError('--command needs a program: --command "python3 adapter.py"');
    return { lifecycle: { kind, command } };
  }
  const endpoints = await endpointsOf(flags, ask);
  return { endpoints, lifecycle: kind === 'attach' ? { kind } : await hooksOf(flags, ask) };
}

/** The lifecycle kind that the flags imply; undefined if they do not imply one. */
function kindOf(flags: ParsedFlags): Target['lifecycle']['kind'] | undefined {
  const has = (name: string): boolean => flags.text(name) !== undefined;
  const isHooks = has('start') || has('stop') || has('crash');
  if (has('command')) {
    const other = ['address', 'start', 'stop', 'crash', 'health', 'dashboard'].find(has);
    if (other === undefined) return 'spawn';
    throw new UsageError(
      `--command and --${other} do not go together: an adapter reports where its broker listens`,
    );
  }
  if (isHooks) return 'hooks';
  return has('address') ? 'attach' : undefined;
}

async function askKind(flags: ParsedFlags, ask: Asker): Promise<Target['lifecycle']['kind']> {
  if (ask === undefined) throw missing('command', flags);
  const answer = await ask(
    'How does the runner reach it: spawn (it starts an adapter), hooks (shell commands), attach (it already runs)',
    'spawn',
  );
  return oneOf<Target['lifecycle']['kind']>('lifecycle', answer, ['spawn', 'hooks', 'attach'], 'spawn');
}

async function endpointsOf(flags: ParsedFlags, ask: Asker): Promise<Endpoints> {
  const address = flags.text('address') ?? (await ask?.('Where does it listen', '127.0.0.1:2925'));
  if (address === undefined) throw missing('address', flags);
  const health =
    flags.text('health') ?? (await ask?.('The URL of its health server, if it has one', '')) ?? '';
  const dashboard = flags.text('dashboard') ?? '';
  return {
    tcp: parseAddress(address),
    ...(health === '' ? {} : { health: { url: parseUrl('health', health) } }),
    ...(dashboard === '' ? {} : { dashboard: { url: parseUrl('dashboard', dashboard) } }),
  };
}

async function hooksOf(flags: ParsedFlags, ask: Asker): Promise<Target['lifecycle']> {
  const start = flags.text('start') ?? (await ask?.('The shell command that starts it', ''));
  const stop = flags.text('stop') ?? (await ask?.('The shell command that stops it', ''));
  if (start === undefined || start === '') throw missing('start', flags);
  if (stop === undefined || stop === '') throw missing('stop', flags);
  const crash = flags.text('crash');
  return { kind: 'hooks', start, stop, ...(crash === undefined ? {} : { crash }) };
}

function capabilitiesOf(words: readonly string[]): NonNullable<Target['capabilities']> {
  const known = Object.keys(capabilityMeanings) as (keyof typeof capabilityMeanings)[];
  return words.map((word) => {
    const found = known.find((name) => name === word);
    if (found !== undefined) return found;
    throw new UsageError(didYouMean(`--capability: ${word} came, allowed: ${known.join(', ')}`, word, known));
  });
}
