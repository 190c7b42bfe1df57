// The configuration for commands that start a broker or print its configuration: combines the flags with the environment, the file of
// `--config` and the facts of this machine. Implements CONFIG-001 to CONFIG-006.

import { existsSync } from 'node:fs';
import type { LoadedConfiguration } from '../config/configuration.ts';
import { DEFAULT_USER_DATABASE } from '../config/derived-defaults.ts';
import { configurationKeyList, flagName } from '../config/keys.ts';
import { type ConfigurationSources, loadConfiguration, unknownFlag } from '../config/load.ts';
import { readSecretFile } from '../config/secret-file.ts';
import { thisMachine } from '../server/this-machine.ts';
import type { ArgumentsShape, FlagKind } from './arguments.ts';
import type { CommandContext } from './command.ts';

/** A command line with every configuration key as a flag, `--config FILE`, and further flags. */
export function configurationArguments(furtherFlags: Readonly<Record<string, FlagKind>>): ArgumentsShape {
  const keyFlags = configurationKeyList.map(([key]) => [flagName(key), 'text'] as const);
  const flags = { ...Object.fromEntries(keyFlags), config: 'text' as const, ...furtherFlags };
  return {
    flags,
    positionals: [],
    explainUnknown: (flag) => unknownFlag(flag, ['config', 'help', ...Object.keys(furtherFlags)]),
  };
}

/** @throws ConfigurationError */
export async function loadEffectiveConfiguration(
  texts: ReadonlyMap<string, string>,
  { environment, isTerminal }: CommandContext,
): Promise<LoadedConfiguration> {
  const path = texts.get('config');
  const flags = new Map([...texts].filter(([name]) => name !== 'config'));
  const machine = { ...thisMachine(isTerminal), hasUserDatabase: existsSync(DEFAULT_USER_DATABASE) };
  const sources: ConfigurationSources = { flags, environment, machine, readSecretFile };
  if (path === undefined) return loadConfiguration(sources);
  // Loaded on demand: most starts have no file and need no parser.
  const { readConfigurationFile } = await import('../config/file.ts');
  return loadConfiguration({ ...sources, file: readConfigurationFile(path) });
}

/**
 * The configuration that the conformance runner requests. Does not read the environment, nor a file of users that nobody asked for.
 * @throws ConfigurationError
 */
export function loadAdapterConfiguration(
  entries: ReadonlyMap<string, unknown>,
  { isTerminal }: CommandContext,
): LoadedConfiguration {
  const file = { path: 'adapter request', entries };
  return loadConfiguration({ flags: new Map(), environment: {}, file, machine: thisMachine(isTerminal) });
}
