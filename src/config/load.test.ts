// The loader: precedence, origins, defaults of the reference table, and its messages.

import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  type Configuration,
  ConfigurationError,
  describeOrigin,
  type LoadedConfiguration,
} from './configuration.ts';
import { parseConfigurationFile } from './file.ts';
import { describeAllowed, type KeyKind } from './key-kinds.ts';
import {
  type ConfigurationKey,
  configurationKeyList,
  environmentName,
  flagName,
  keysOfLaterVersions,
} from './keys.ts';
import { type ConfigurationSources, loadConfiguration, propertyName } from './load.ts';
import { nearestName } from './nearest-name.ts';
import { configurationReference, flagHelp } from './reference.ts';

const GIB = 1024 ** 3;

/** What this test needs of spec/tables/limits.yaml. */
type Tables = {
  readonly server: readonly {
    readonly name: string;
    readonly default?: unknown;
    readonly derived?: string;
    readonly note?: string;
    readonly min?: number;
    readonly max?: number;
  }[];
};

const { server: limitRows }: Tables = parse(
  readFileSync(new URL('../../spec/tables/limits.yaml', import.meta.url), 'utf8'),
);
const kinds: ReadonlyMap<string, KeyKind> = new Map(configurationKeyList);

type Texts = Readonly<Record<string, string>>;
type Given = {
  readonly flags?: Texts;
  readonly environment?: Texts;
  readonly file?: string;
  readonly path?: string;
};

function load({ flags = {}, environment = {}, file, path = 'truemq.yaml' }: Given): LoadedConfiguration {
  const sources: ConfigurationSources = {
    flags: new Map(Object.entries(flags)),
    environment,
    machine: { memoryBytes: 8 * GIB, heapLimitBytes: 100 * GIB, isTerminal: false },
  };
  if (file === undefined) return loadConfiguration(sources);
  return loadConfiguration({ ...sources, file: { path, entries: parseConfigurationFile(path, file) } });
}

function problemsOf(given: Given): readonly string[] {
  try {
    load(given);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  return [];
}

describe('defaults', () => {
  it('of memory fit into the JavaScript heap', () => {
    const machine = { memoryBytes: 64 * GIB, heapLimitBytes: 4 * GIB, isTerminal: false };
    const { configuration } = loadConfiguration({ flags: new Map(), environment: {}, machine });
    expect(configuration.memoryLimitBytes).toBe(64 * GIB);
    expect(configuration.maxQueuedBytes).toBe(2.5 * GIB);
    expect([configuration.maxStructureBytes, configuration.maxBufferedBytes]).toEqual([
      0.625 * GIB,
      0.625 * GIB,
    ]);
  });

  it('are those of the reference [CONFIG-011, DURABLE-024, HEALTH-015, HTTP-004]', () => {
    const expected: Configuration = {
      host: '127.0.0.1',
      port: 2925,
      maxConnections: 1_000,
      handshakeTimeoutMs: 10_000,
      frameTimeoutMs: 30_000,
      idleTimeoutMs: 300_000,
      shutdownTimeoutMs: 30_000,
      tlsEnabled: false,
      tlsCertificatePath: '',
      tlsCertificatePassword: '',
      tlsKeyPath: '',
      tlsClientCaPath: '',
      defaultDeliveryMode: 'RoundRobin',
      maxQueueSize: 10_000,
      enableAutoCreate: true,
      maxQueues: 100_000,
      validatePayload: true,
      storage: 'memory',
      storageModule: '',
      storagePath: 'truemq.db',
      synchronous: 'full',
      ackTimeoutMs: 30_000,
      retryDelayMs: 1_000,
      maxRetryDelayMs: 120_000,
      maxInFlightPerSubscriber: 256,
      maxSubscriptionsPerConnection: 1_000,
      maxMessageSizeBytes: 1_048_576,
      maxDecompressedSizeBytes: 1_048_576,
      maxQueuedBytes: 4 * GIB,
      maxBlockedPublishes: 1_024,
      maxBlockedBytes: 4_194_304,
      maxOutboundBytes: 4_194_304,
      maxStructureBytes: GIB,
      maxBufferedBytes: (8 * GIB) / 8,
      maxPendingInputBytes: 4_194_304,
      memoryLimitBytes: 8 * GIB,
      rateLimit: true,
      maxConnectionsPerIpPerWindow: 20,
      connectionWindowMs: 60_000,
      maxMessagesPerClientPerSecond: 1_000,
      enableAuthentication: false,
      authToken: '',
      authTokenFile: '',
      superuserUsername: 'vibemq',
      superuserPassword: '',
      superuserPasswordFile: '',
      authDatabasePath: '',
      passwordCost: 12,
      authConcurrency: 1,
      supportedCompressions: ['brotli', 'gzip'],
      compressionThresholdBytes: 1_024,
      health: true,
      healthHost: '127.0.0.1',
      healthPort: 2926,
      allowedHosts: ['127.0.0.1', 'localhost'],
      dashboard: false,
      logLevel: 'info',
      logFormat: 'json',
    };
    expect(load({}).configuration).toEqual(expected);
  });

  it('are those of spec/tables/limits.yaml, except that of the dashboard, which does not exist yet [CONFIG-014]', () => {
    const defaults: Readonly<Record<string, unknown>> = load({}).configuration;
    const different = limitRows.filter(({ name, derived, default: expected }) => {
      const kind = kinds.get(name);
      if (kind === undefined) return false;
      if (derived !== undefined) return !('derived' in kind);
      return !isDeepStrictEqual(defaults[propertyName(name as ConfigurationKey)], expected);
    });
    expect(different.map(({ name }) => name)).toEqual(['dashboard']);
    expect(problemsOf({ flags: { dashboard: 'on' } })).toHaveLength(1);
  });

  it('have a row in spec/tables/limits.yaml each, with the same range', () => {
    for (const [key, kind] of kinds) {
      const row = limitRows.find(({ name }) => name === key);
      const range = kind.kind === 'port' ? [0, 65_535] : 'min' in kind ? [kind.min, kind.max] : [];
      expect(
        [row?.min, row?.max].filter((bound) => bound !== undefined),
        key,
      ).toEqual(range);
      expect(row, key).toBeDefined();
    }
  });

  it('leave out only what is fixed, or not available in this version', () => {
    const others = limitRows.filter(({ name }) => !kinds.has(name) && !keysOfLaterVersions.includes(name));
    expect(others.map(({ name, note = '' }) => [name, note.startsWith('fixed')])).toEqual([
      ['initialWindow', true],
      ['defaultListLimit', true],
      ['maxListLimit', true],
      ['maxUsers', true],
      ['maxEntriesPerUser', true],
      ['minAdvisedTokenLength', true],
    ]);
  });

  it('follow the values they are derived from', () => {
    const { configuration } = load({
      flags: { 'memory-limit': '1GiB', 'max-message-size': '2MiB', host: 'broker.example' },
    });
    expect(configuration.maxQueuedBytes).toBe(GIB / 2);
    expect(configuration.maxDecompressedSizeBytes).toBe(2 * 1024 ** 2);
    expect(configuration.allowedHosts).toEqual(['broker.example', '127.0.0.1', 'localhost']);
  });

  it('can all be written as flags and mean the same', () => {
    const { configuration, settings } = load({});
    const flags = Object.fromEntries(settings.map(({ key, text }) => [flagName(key), text]));
    expect(load({ flags }).configuration).toEqual(configuration);
  });
});

describe('a store of a module', () => {
  const module = './my-store.mjs';

  it('is used when its module is given, wherever that is, and has no path unless one is given [CONFIG-016]', () => {
    const none = { storage: 'module', storageModule: module, storagePath: '' };
    expect(load({ flags: { 'storage-module': module } }).configuration).toMatchObject(none);
    expect(load({ environment: { TRUEMQ_STORAGE_MODULE: module } }).configuration).toMatchObject(none);
    expect(load({ file: `storageModule: ${module}` }).configuration).toMatchObject(none);
    const flags = { storage: 'module', 'storage-module': module, 'storage-path': 'a place' };
    expect(load({ flags }).configuration).toMatchObject({ ...none, storagePath: 'a place' });
  });

  it('does not replace a store that was asked for explicitly, not even the default [CONFIG-017]', () => {
    const given = { flags: { 'storage-module': module }, file: 'storage: memory' };
    expect(problemsOf(given)).toEqual([
      'storage memory (file truemq.yaml) and storageModule ./my-store.mjs (flag --storage-module) do not go together; allowed is storage module, or no storageModule',
    ]);
  });

  it('is taken back by an empty text', () => {
    const { configuration } = load({ flags: { 'storage-module': '' }, file: `storageModule: ${module}` });
    expect(configuration).toMatchObject({ storage: 'memory', storageModule: '', storagePath: 'truemq.db' });
  });
});

describe('precedence', () => {
  it('is flag, environment, file, default, and each value knows its origin [CONFIG-001, CONFIG-007]', () => {
    const { configuration, settings } = load({
      flags: { port: '1' },
      environment: { TRUEMQ_PORT: '2', TRUEMQ_MAX_QUEUE_SIZE: '22' },
      file: 'port: 3\nmaxQueueSize: 33\nackTimeout: 500\n',
    });
    expect([configuration.port, configuration.maxQueueSize, configuration.ackTimeoutMs]).toEqual([
      1, 22, 500,
    ]);
    const origins = new Map(settings.map(({ key, origin }) => [key, describeOrigin(origin)]));
    expect(['port', 'maxQueueSize', 'ackTimeout', 'host'].map((key) => origins.get(key as 'port'))).toEqual([
      'flag --port',
      'environment TRUEMQ_MAX_QUEUE_SIZE',
      'file truemq.yaml',
      'default',
    ]);
  });

  it('holds for every key, from text', () => {
    for (const [key] of configurationKeyList) {
      const text = load({}).settings.find((setting) => setting.key === key)?.text ?? '';
      const { settings } = load({ environment: { [environmentName(key)]: text } });
      expect(settings.find((setting) => setting.key === key)).toMatchObject({
        text,
        origin: { kind: 'environment' },
      });
    }
  });
});

describe('the file', () => {
  it('may be JSON with numbers, booleans and lists [CONFIG-004, CONFIG-006]', () => {
    const file = JSON.stringify({
      ackTimeout: 250,
      retryDelay: '5ms',
      maxMessageSize: 2048,
      enableAutoCreate: false,
      rateLimit: 'off',
      supportedCompressions: ['gzip'],
    });
    expect(load({ file, path: 'truemq.json' }).configuration).toMatchObject({
      ackTimeoutMs: 250,
      retryDelayMs: 5,
      maxMessageSizeBytes: 2048,
      enableAutoCreate: false,
      rateLimit: false,
      supportedCompressions: ['gzip'],
    });
  });

  it('may be empty', () => {
    expect(load({ file: '# nothing yet\n' }).configuration).toEqual(load({}).configuration);
  });

  it.each([
    [
      'port: "many"',
      'port (file truemq.yaml): came "many"; allowed is a port from 1 to 65535, or 0 for any free one',
    ],
    ['port:', 'port (file truemq.yaml): came null; allowed is a port from 1 to 65535, or 0 for any free one'],
    [
      'maxQueueSize: 1.5',
      'maxQueueSize (file truemq.yaml): came 1.5; allowed is a whole number from 1 to 2147483647',
    ],
    ['enableAutoCreate: 1', 'enableAutoCreate (file truemq.yaml): came 1; allowed is true or false'],
    ['prot: 1', 'prot (file truemq.yaml): no such key; did you mean port?'],
    ['dashboardHost: x', 'dashboardHost (file truemq.yaml): not available in this version'],
    ['- port', 'file truemq.yaml: holds no map of keys to values'],
  ])('refuses %j [CONFIG-002, CONFIG-003]', (file, problem) => {
    expect(problemsOf({ file })).toEqual([problem]);
  });

  it('that breaks off is named with the place [CONFIG-006]', () => {
    expect(problemsOf({ file: '{"port": 1', path: 'truemq.json' })[0]).toMatch(
      /^file truemq\.json: is no JSON: /,
    );
    expect(problemsOf({ file: 'port: 1\nport: 2\n' })[0]).toMatch(/^file truemq\.yaml: is no YAML: .*line 2/);
  });
});

describe('refusals', () => {
  it.each([
    [
      { port: '65536' },
      'port (flag --port): came "65536"; allowed is a port from 1 to 65535, or 0 for any free one',
    ],
    [
      { 'ack-timeout': '500' },
      'ackTimeout (flag --ack-timeout): came "500"; allowed is 1ms to 576h, written as 250ms, 30s, 5m, 1h or a time span 00:00:30',
    ],
    [
      { 'default-delivery-mode': 'Random' },
      'defaultDeliveryMode (flag --default-delivery-mode): came "Random"; allowed is RoundRobin or FanOutWithAck or FanOutWithoutAck or PriorityBased',
    ],
    [{ storage: 'disk' }, 'storage (flag --storage): came "disk"; allowed is memory or sqlite or module'],
    [
      { dashboard: 'on' },
      'dashboard (flag --dashboard): came "on"; allowed is off (the dashboard is not available in this version)',
    ],
    [{ 'rate-limit': 'true' }, 'rateLimit (flag --rate-limit): came "true"; allowed is on or off'],
    [
      { 'supported-compressions': 'gzip,gzip' },
      'supportedCompressions (flag --supported-compressions): came "gzip,gzip"; allowed is any of brotli, gzip, each at most once, separated by commas',
    ],
    [
      { storage: 'sqlite', 'storage-module': './my-store.mjs' },
      'storage sqlite (flag --storage) and storageModule ./my-store.mjs (flag --storage-module) do not go together; allowed is storage module, or no storageModule',
    ],
    [
      { storage: 'module' },
      'storageModule none (default) and storage module (flag --storage) do not go together; allowed is a storageModule with storage module',
    ],
    [
      { storage: 'sqlite', 'storage-path': '' },
      'storagePath none (flag --storage-path) and storage sqlite (flag --storage) do not go together; allowed is the path of a file with storage sqlite',
    ],
    [{ host: '' }, 'host (flag --host): came ""; allowed is a text that is not empty'],
    [{ prot: '1' }, '--prot: no such flag; did you mean --port?'],
    [{ 'path-prefix': '/x' }, '--path-prefix: not available in this version'],
    [
      { 'retry-delay': '3m' },
      'retryDelay 3m (flag --retry-delay) and maxRetryDelay 2m (default) do not go together; allowed is retryDelay at most maxRetryDelay',
    ],
    [
      { 'max-decompressed-size': '1KiB' },
      'maxDecompressedSize 1KiB (flag --max-decompressed-size) and maxMessageSize 1MiB (default) do not go together; allowed is maxDecompressedSize at least maxMessageSize',
    ],
    [
      { port: '2926' },
      'healthPort 2926 (default) and port 2926 (flag --port) do not go together; allowed is a different port for each, or 0',
    ],
  ] as const)(
    'of %j name key, origin, what came and what is allowed [CONFIG-002, CONFIG-003]',
    (flags, problem) => {
      expect(problemsOf({ flags })).toEqual([problem]);
    },
  );

  it('come all at once', () => {
    expect(problemsOf({ flags: { port: 'x', 'max-queues': '0' }, file: 'nonsense: 1' })).toHaveLength(3);
  });

  it('leave the same port alone where nothing collides', () => {
    expect(problemsOf({ flags: { port: '0', 'health-port': '0' } })).toEqual([]);
    expect(problemsOf({ flags: { port: '2926', health: 'off' } })).toEqual([]);
    expect(problemsOf({ flags: { port: '2926', 'health-host': '127.0.0.2' } })).toEqual([]);
    expect(problemsOf({ flags: { port: '2926', 'health-host': '0.0.0.0' } })).toHaveLength(1);
  });

  it('explain a service variable of Kubernetes', () => {
    expect(problemsOf({ environment: { TRUEMQ_PORT: 'tcp://10.0.0.1:2925' } })[0]).toContain(
      'enableServiceLinks: false',
    );
  });
});

describe('unknown variables', () => {
  it('are errors where they look like a slip', () => {
    expect(problemsOf({ environment: { TRUEMQ_MAX_CONECTIONS: '5' } })).toEqual([
      'TRUEMQ_MAX_CONECTIONS (environment): no such setting; did you mean TRUEMQ_MAX_CONNECTIONS?',
    ]);
  });

  it('are warnings else, and foreign ones nothing', () => {
    const { warnings } = load({
      environment: { TRUEMQ_CMD: 'x', TRUEMQ_PORT_2925_TCP_ADDR: '10.0.0.1', PORT: '80', HOST: 'x' },
    });
    expect(warnings).toHaveLength(2);
    expect(warnings[0]).toBe('TRUEMQ_CMD (environment): no such setting, ignored');
  });
});

describe('the table', () => {
  it('names properties by unit', () => {
    expect((['port', 'ackTimeout', 'maxMessageSize', 'maxQueuedBytes'] as const).map(propertyName)).toEqual([
      'port',
      'ackTimeoutMs',
      'maxMessageSizeBytes',
      'maxQueuedBytes',
    ]);
  });

  it('says something about every key', () => {
    for (const [key, kind] of configurationKeyList) {
      expect(kind.doc, key).toMatch(/^[A-Z].*\.$/);
      expect(describeAllowed(kind), key).not.toBe('');
      expect(flagHelp()).toContain(`--${flagName(key)} `);
    }
  });

  it('is what docs/reference/configuration.md shows', () => {
    const page = readFileSync(new URL('../../docs/reference/configuration.md', import.meta.url), 'utf8');
    expect(page).toBe(configurationReference());
  });
});

describe('nearestName', () => {
  it('finds a slip and nothing far away', () => {
    expect(nearestName('publsh', ['pub', 'publish', 'sub'])).toBe('publish');
    expect(nearestName('zebra', ['pub', 'publish', 'sub'])).toBeUndefined();
    expect(nearestName('PORT', ['port'])).toBe('port');
  });
});
