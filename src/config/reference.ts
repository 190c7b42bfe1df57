// The reference page of the configuration and the flag list of `--help`, both generated from the table of keys. Pure; a test compares
// docs/reference/configuration.md with this text.

import { describeAllowed, formatValue, type KeyKind } from './key-kinds.ts';
import { type ConfigurationKey, configurationKeyList, environmentName, flagName } from './keys.ts';

type Entry = readonly [ConfigurationKey, KeyKind];

const INTRODUCTION = `# Configuration

<!-- Generated from the table of keys: npx truemq config --reference > docs/reference/configuration.md -->

A value can be set in four places. In descending precedence they are: a flag, the environment, the file given with
\`--config FILE\` (JSON or YAML, a flat map of the keys below), the default. \`truemq config\` prints the effective configuration
and the origin of each value, and \`(hidden)\` instead of a secret. A secret and the file that contains it, such as \`authToken\` and
\`authTokenFile\`, count as one setting: the one in the place of higher precedence is used, and both in one place are refused.

The broker refuses an unknown key or flag, a wrong type and an invalid value with exit code 2. The message names the key, the
origin of the value, the value and the allowed values. The broker refuses an unknown \`TRUEMQ_\` variable if its name is similar to
a known one; otherwise it prints a warning.

Durations: \`250ms\`, \`30s\`, \`5m\`, \`1h\` or a time span \`00:00:30\`; in a file also a number of milliseconds.
Sizes: a number of bytes, or \`64KiB\`, \`1MiB\`, \`2GiB\`.
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
  const flag = `--${flagName(key)} ${valueName(key, kind)}`;
  return `  ${flag.padEnd(37)}  ${kind.doc} [${describeDefault(kind)}]`;
}

/** What stands for the value of a flag: the words themselves where only some are allowed, with a bar between them. */
function valueName(key: ConfigurationKey, kind: KeyKind): string {
  switch (kind.kind) {
    case 'boolean':
      return kind.words.join('|');
    case 'choice':
      return kind.choices.join('|');
    case 'text':
      return /(Path|File)$/.test(key) ? 'FILE' : 'TEXT';
    case 'count':
      return 'N';
    default:
      return kind.kind.toUpperCase();
  }
}
