// The reference page of the configuration and the flag list of `--help`, both generated from the table of keys. Pure; a test compares
// docs/reference/configuration.md with this text.

import { describeAllowed, formatValue, type KeyKind } from './key-kinds.ts';
import { type ConfigurationKey, configurationKeyList, environmentName, flagName } from './keys.ts';

type Entry = readonly [ConfigurationKey, KeyKind];

const INTRODUCTION = `# Configuration

<!-- Generated from the table of keys: npx truemq config --reference > docs/reference/configuration.md -->

A value comes from, in falling precedence: a flag, the environment, the file given with \`--config FILE\` (JSON or YAML, a flat
map of the keys below), the default. \`truemq config\` prints the effective configuration and where each value came from.

An unknown key or flag, a wrong type or an impossible value is an error that names the key, where it came from, what came and
what is allowed; the exit code is 2. An unknown \`TRUEMQ_\` variable is an error when it looks like a mistyped one, else a warning.

Durations: \`250ms\`, \`30s\`, \`5m\`, \`1h\` or a time span \`00:00:30\`; in a file also a number of milliseconds.
Sizes: bytes, or \`64KiB\`, \`1MiB\`, \`2GiB\`.
`;

/** The text of docs/reference/configuration.md. */
export function configurationReference(): string {
  const sections = [...groupBySection()].map(([section, entries]) => `## ${section}\n\n${table(entries)}\n`);
  return [INTRODUCTION, ...sections].join('\n');
}

/** Every flag with its default and its sentence, in sections, for `truemq serve --help`. */
export function flagHelp(): string {
  const sections = [...groupBySection()].map(([section, entries]) =>
    [`${section}:`, ...entries.map(helpLine)].join('\n'),
  );
  return sections.join('\n\n');
}

/** The default in words: the value as a user writes it, or what it is derived from. */
export function describeDefault(kind: KeyKind): string {
  return 'derived' in kind ? kind.derived : formatValue(kind, kind.default) || 'none';
}

function groupBySection(): ReadonlyMap<string, readonly Entry[]> {
  const sections = new Map<string, Entry[]>();
  for (const entry of configurationKeyList) {
    const entries = sections.get(entry[1].section) ?? [];
    sections.set(entry[1].section, [...entries, entry]);
  }
  return sections;
}

function table(entries: readonly Entry[]): string {
  const head = ['| key | flag, environment | default | meaning |', '|---|---|---|---|'];
  return [...head, ...entries.map(tableRow)].join('\n');
}

function tableRow([key, kind]: Entry): string {
  const names = `\`--${flagName(key)}\`<br>\`${environmentName(key)}\``;
  return `| \`${key}\` | ${names} | ${describeDefault(kind)} | ${kind.doc} Allowed: ${describeAllowed(kind)}. |`;
}

function helpLine([key, kind]: Entry): string {
  return `  --${flagName(key).padEnd(36)} ${kind.doc} [${describeDefault(kind)}]`;
}
