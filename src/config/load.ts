// Combines flags, environment, file and defaults into one configuration, in this precedence, and reports all problems together. Pure: it is
// given the texts and reads nothing itself. Implements CONFIG-001 to CONFIG-003, CONFIG-007 and CONFIG-015.

import {
  type Choices,
  type Chosen,
  type Configuration,
  ConfigurationError,
  describeOrigin,
  type LoadedConfiguration,
  type Machine,
  type Origin,
  type Setting,
} from './configuration.ts';
import { derivedDefaults, type Known } from './derived-defaults.ts';
import {
  HIDDEN,
  isSecret,
  type KeyKind,
  type ParsedValue,
  parseFileValue,
  parseText,
  showValue,
} from './key-kinds.ts';
import {
  type ConfigurationKey,
  configurationKeyList,
  configurationKeys,
  ENVIRONMENT_PREFIX,
  environmentName,
  flagName,
} from './keys.ts';
import { didYouMean, nearestName } from './nearest-name.ts';
import { findConflicts, findWarnings } from './rules.ts';
import { chooseSecrets, emptySecrets, type ReadSecretFile } from './secrets.ts';
import { writtenValue } from './written-value.ts';

export type ConfigurationSources = {
  /** Values by key, from the program that contains the broker. They come before all others. */
  readonly options?: ReadonlyMap<string, unknown>;
  /** Text by flag name, without the dashes in front. */
  readonly flags: ReadonlyMap<string, string>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The file's top-level entries by key, already parsed from JSON or YAML. */
  readonly file?: { readonly path: string; readonly entries: ReadonlyMap<string, unknown> };
  readonly machine: Machine;
  /** Reads a file that contains a secret. Absent: no such file can be read. */
  readonly readSecretFile?: ReadSecretFile;
};

type Given = { readonly raw: unknown; readonly origin: Origin };

/**
 * The effective configuration.
 * @throws ConfigurationError with one sentence for every unknown key, wrong type, value out of range and conflict between keys
 */
export function loadConfiguration(sources: ConfigurationSources): LoadedConfiguration {
  const { problems, warnings } = findUnknownNames(sources);
  const chosen: Choices = new Map();
  for (const [key, kind] of configurationKeyList) {
    const outcome = chooseValue(key, kind, sources);
    if (typeof outcome === 'string') problems.push(outcome);
    else if (outcome !== undefined) chosen.set(key, outcome);
  }
  problems.push(...chooseSecrets(chosen, sources.readSecretFile));
  if (problems.length > 0) throw new ConfigurationError(problems);
  addDerivedDefaults(chosen, sources.machine);
  const configuration = toConfiguration(chosen);
  refuseConflicts(configuration, chosen);
  return {
    configuration,
    settings: toSettings(chosen),
    warnings: [...warnings, ...emptySecrets(chosen), ...findWarnings(configuration, sources.machine)],
  };
}

/** `ackTimeout` as the property that holds it: `ackTimeoutMs`. */
export function propertyName(key: ConfigurationKey): string {
  const kind: KeyKind = configurationKeys[key];
  if (kind.kind === 'duration') return `${key}Ms`;
  return kind.kind === 'size' && !key.endsWith('Bytes') ? `${key}Bytes` : key;
}

/** The value of a key, a sentence about its problem, or undefined when its default must be derived. */
function chooseValue(
  key: ConfigurationKey,
  kind: KeyKind,
  sources: ConfigurationSources,
): Chosen | string | undefined {
  const given = findGiven(key, sources);
  if (given === undefined) {
    return 'derived' in kind ? undefined : { value: kind.default, origin: { kind: 'default' } };
  }
  if (isSecret(kind) && given.raw === HIDDEN) {
    return `${key} (${describeOrigin(given.origin)}): ${HIDDEN} is what "truemq config" prints instead of a secret; write the secret itself`;
  }
  const parsed = parseGiven(kind, given);
  if (parsed.ok) return { value: parsed.value, origin: given.origin };
  const came = `${key} (${describeOrigin(given.origin)}): came ${showRaw(kind, given.raw)}`;
  return `${came}; allowed is ${parsed.allowed}${hint(given)}${missingQuotes(kind, given)}`;
}

function findGiven(key: ConfigurationKey, sources: ConfigurationSources): Given | undefined {
  if (sources.options?.has(key)) return { raw: sources.options.get(key), origin: { kind: 'option' } };
  const flag = sources.flags.get(flagName(key));
  if (flag !== undefined) return { raw: flag, origin: { kind: 'flag', flag: `--${flagName(key)}` } };
  const variable = environmentName(key);
  const text = sources.environment[variable];
  if (text !== undefined) return { raw: text, origin: { kind: 'environment', variable } };
  if (!sources.file?.entries.has(key)) return undefined;
  return { raw: sources.file.entries.get(key), origin: { kind: 'file', path: sources.file.path } };
}

function parseGiven(kind: KeyKind, given: Given): ParsedValue {
  if (given.origin.kind === 'file' || given.origin.kind === 'option') return parseFileValue(kind, given.raw);
  return parseText(kind, String(given.raw));
}

function showRaw(kind: KeyKind, raw: unknown): string {
  if (isSecret(kind)) return HIDDEN;
  return writtenValue(raw);
}

/** Kubernetes gives every pod a variable per service; one named "truemq" then says `TRUEMQ_PORT=tcp://10.0.0.1:2925`. */
function hint(given: Given): string {
  const fromServiceLink = given.origin.kind === 'environment' && String(given.raw).startsWith('tcp://');
  return fromServiceLink ? ' (a Kubernetes service link? set enableServiceLinks: false)' : '';
}

/** In YAML `123456` and `true` are no texts. */
function missingQuotes(kind: KeyKind, { raw }: Given): string {
  const type = typeof raw;
  const isForText = kind.kind === 'text' && (type === 'number' || type === 'boolean');
  return isForText ? `. This is a ${type}: put it in quotes to make it a text` : '';
}

function findUnknownNames(sources: ConfigurationSources): { problems: string[]; warnings: string[] } {
  const problems: string[] = [];
  const warnings: string[] = [];
  const keys: readonly string[] = configurationKeyList.map(([key]) => key);
  for (const flag of sources.flags.keys()) {
    if (!keys.some((key) => flagName(key) === flag)) problems.push(unknownFlag(flag));
  }
  for (const key of sources.file?.entries.keys() ?? []) {
    if (!keys.includes(key)) problems.push(unknownKey(key, keys, `file ${sources.file?.path ?? ''}`));
  }
  for (const key of sources.options?.keys() ?? []) {
    if (!keys.includes(key)) problems.push(unknownKey(key, keys, 'option'));
  }
  for (const variable of Object.keys(sources.environment))
    judgeVariable(variable, keys, { problems, warnings });
  return { problems, warnings };
}

/** Variables of the commands that connect to a broker. A broker may be started with them in its environment. */
const clientVariables: ReadonlySet<string> = new Set(
  ['URL', 'DASHBOARD_URL', 'PASSWORD', 'NEW_PASSWORD'].map((name) => `${ENVIRONMENT_PREFIX}${name}`),
);

/** The message about an unknown flag; also for the command line, which has flags that are not keys. */
export function unknownFlag(flag: string, furtherFlags: readonly string[] = []): string {
  const known = [...configurationKeyList.map(([key]) => flagName(key)), ...furtherFlags];
  return `--${flag}: no such flag${didYouMean(flag, known, '--')}`;
}

function unknownKey(key: string, keys: readonly string[], origin: string): string {
  return `${key} (${origin}): no such key${didYouMean(key, keys)}`;
}

/**
 * An unknown variable is an error only if it resembles a key: container platforms name service variables after the service, with the same
 * prefix, and these must not prevent the start. They cause a warning.
 */
function judgeVariable(
  variable: string,
  keys: readonly string[],
  found: { problems: string[]; warnings: string[] },
): void {
  if (!variable.startsWith(ENVIRONMENT_PREFIX) || clientVariables.has(variable)) return;
  if (keys.some((key) => environmentName(key) === variable)) return;
  const bare = (name: string) => name.slice(ENVIRONMENT_PREFIX.length);
  const near = nearestName(
    bare(variable),
    keys.map((key) => bare(environmentName(key))),
  );
  if (near === undefined) found.warnings.push(`${variable} (environment): no such setting, ignored`);
  else
    found.problems.push(
      `${variable} (environment): no such setting; did you mean ${ENVIRONMENT_PREFIX}${near}?`,
    );
}

function addDerivedDefaults(chosen: Choices, machine: Machine): void {
  for (const [key, derive] of Object.entries(derivedDefaults) as [ConfigurationKey, Derive][]) {
    if (chosen.has(key)) continue;
    chosen.set(key, { value: derive(toConfiguration(chosen), machine), origin: { kind: 'default' } });
  }
}

type Derive = (known: Known, machine: Machine) => unknown;

/** The cast is safe: every value was read by its kind, and a test covers all keys. */
function toConfiguration(chosen: Choices): Configuration {
  const entries = [...chosen].map(([key, { value }]) => [propertyName(key), value]);
  return Object.freeze(Object.fromEntries(entries)) as Configuration;
}

function toSettings(chosen: Choices): readonly Setting[] {
  return configurationKeyList.flatMap(([key, kind]) => {
    const choice = chosen.get(key);
    return choice === undefined ? [] : [{ key, text: showValue(kind, choice.value), origin: choice.origin }];
  });
}

function refuseConflicts(configuration: Configuration, chosen: Choices): void {
  const show = (key: ConfigurationKey) => {
    const choice = chosen.get(key);
    const origin = describeOrigin(choice?.origin ?? { kind: 'default' });
    return `${key} ${showValue(configurationKeys[key], choice?.value) || 'none'} (${origin})`;
  };
  const isGiven = (key: ConfigurationKey) => (chosen.get(key)?.origin.kind ?? 'default') !== 'default';
  const problems = findConflicts(configuration, isGiven).map(
    ({ keys, allowed }) => `${show(keys[0])} and ${show(keys[1])} do not go together; allowed is ${allowed}`,
  );
  if (problems.length > 0) throw new ConfigurationError(problems);
}
