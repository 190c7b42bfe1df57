// Rules between keys: settings that are valid alone but not together. Each rule checks the whole configuration and returns its problem; the
// loader adds the origins of the values. Pure. Implements CONFIG-003 and CONFIG-017.

import type { Configuration } from './configuration.ts';
import type { ConfigurationKey } from './keys.ts';
import { tlsRules } from './tls-rules.ts';

export type Conflict = {
  /** The conflicting keys, first the one that should be changed. */
  readonly keys: readonly [ConfigurationKey, ConfigurationKey];
  /** What is allowed, in words. */
  readonly allowed: string;
};

const WILDCARD_HOSTS: readonly string[] = ['0.0.0.0', '::', '*'];

/** All conflicts of a configuration. */
export function findConflicts(configuration: Configuration): readonly Conflict[] {
  const rules = [storageModule, storagePath, retryDelays, decompressedSize, ports, ...tlsRules];
  return rules.flatMap((rule) => rule(configuration) ?? []);
}

/** Never replaces an explicitly configured store by another one: the messages would not be where the operator expects them. */
function storageModule({ storage, storageModule: module }: Configuration): Conflict | undefined {
  if (storage === 'module' && module === '') {
    return { keys: ['storageModule', 'storage'], allowed: 'a storageModule with storage module' };
  }
  if (storage === 'module' || module === '') return undefined;
  return { keys: ['storage', 'storageModule'], allowed: 'storage module, or no storageModule' };
}

function storagePath({ storage, storagePath: path }: Configuration): Conflict | undefined {
  if (storage !== 'sqlite' || path !== '') return undefined;
  return { keys: ['storagePath', 'storage'], allowed: 'the path of a file with storage sqlite' };
}

function retryDelays(configuration: Configuration): Conflict | undefined {
  if (configuration.retryDelayMs <= configuration.maxRetryDelayMs) return undefined;
  return { keys: ['retryDelay', 'maxRetryDelay'], allowed: 'retryDelay at most maxRetryDelay' };
}

function decompressedSize(configuration: Configuration): Conflict | undefined {
  if (configuration.maxDecompressedSizeBytes >= configuration.maxMessageSizeBytes) return undefined;
  return {
    keys: ['maxDecompressedSize', 'maxMessageSize'],
    allowed: 'maxDecompressedSize at least maxMessageSize',
  };
}

function ports(configuration: Configuration): Conflict | undefined {
  const { port, healthPort, host, healthHost, health } = configuration;
  const overlap = host === healthHost || [host, healthHost].some((name) => WILDCARD_HOSTS.includes(name));
  if (!health || port === 0 || port !== healthPort || !overlap) return undefined;
  return { keys: ['healthPort', 'port'], allowed: 'a different port for each, or 0' };
}
