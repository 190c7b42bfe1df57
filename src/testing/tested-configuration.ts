// Loads a configuration from what a test gives, on a machine that is always the same.

import { ConfigurationError, type LoadedConfiguration, type Machine } from '../config/configuration.ts';
import { parseConfigurationFile } from '../config/file.ts';
import { type ConfigurationSources, loadConfiguration } from '../config/load.ts';

const GIB = 1024 ** 3;

export type GivenConfiguration = {
  readonly flags?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
  /** The text of the configuration file. */
  readonly file?: string;
  readonly path?: string;
  readonly machine?: Partial<Machine>;
  readonly readSecretFile?: ConfigurationSources['readSecretFile'];
};

export function loadGiven(given: GivenConfiguration): LoadedConfiguration {
  const { flags = {}, environment = {}, file, path = 'truemq.yaml', machine, readSecretFile } = given;
  return loadConfiguration({
    flags: new Map(Object.entries(flags)),
    environment,
    machine: { memoryBytes: 8 * GIB, heapLimitBytes: 100 * GIB, isTerminal: false, ...machine },
    ...(file === undefined ? {} : { file: { path, entries: parseConfigurationFile(path, file) } }),
    ...(readSecretFile === undefined ? {} : { readSecretFile }),
  });
}

/** What the loader complains about; empty when it loads the configuration. */
export function problemsOf(given: GivenConfiguration): readonly string[] {
  try {
    loadGiven(given);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  return [];
}
