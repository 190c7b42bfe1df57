// The loader: precedence, origins, defaults of the reference table, and its messages.

import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loadGiven, problemsOf } from '../testing/tested-configuration.ts';
import { type Configuration, describeOrigin } from './configuration.ts';
import { describeAllowed, type KeyKind } from './key-kinds.ts';
import { type ConfigurationKey, configurationKeyList, environmentName, flagName } from './keys.ts';
import { loadConfiguration, propertyName } from './load.ts';
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

  it('of memory are warned about when messages may fill the heap [CONFIG-019]', () => {
    const machine = { memoryBytes: 64 * GIB, heapLimitBytes: 4 * GIB, isTerminal: false };
    const warningsFor = (bytes: number) => {
      const flags = new Map([['max-queued-bytes', String(bytes)]]);
      return loadConfiguration({ flags, environment: {}, machine }).warnings;
    };
    expect(warningsFor(3 * GIB)).toEqual([]);
    expect(warningsFor(3 * GIB + 1)).toEqual([expect.stringContaining('beyond its limit of 4GiB')]);
  });

  it('of connections are warned about when the process may not have so many files open [CONFIG-020]', () => {
    const warningsFor = (openFileLimit?: number) => {
      const machine = {
        memoryBytes: GIB,
        heapLimitBytes: GIB,
        isTerminal: false,
        ...(openFileLimit === undefined ? {} : { openFileLimit }),
      };
      const flags = new Map([['max-connections', '1000']]);
      return loadConfiguration({ flags, environment: {}, machine }).warnings;
    };
    expect(warningsFor(1063)).toEqual([expect.stringContaining('allow 1064 files')]);
    expect(warningsFor(1064)).toEqual([]);
    expect(warningsFor()).toEqual([]);
  });

  it('of connections fit into the files that the process may have open [CONFIG-021]', () => {
    const defaultFor = (openFileLimit: number) => {
      const machine = { memoryBytes: GIB, heapLimitBytes: GIB, openFileLimit, isTerminal: false };
      return loadConfiguration({ flags: new Map(), environment: {}, machine });
    };
    const limits = [1_048_576, 1064, 1063, 1024, 64, 20];
    expect(limits.map((limit) => defaultFor(limit).configuration.maxConnections)).toEqual([
      1000, 1000, 999, 960, 1, 1,
    ]);
    expect(defaultFor(1024).warnings).toEqual([]);
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
      tlsCertificatePasswordFile: '',
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
      dashboard: true,
      dashboardHost: '127.0.0.1',
      dashboardPort: 12_925,
      dashboardAuthentication: false,
      pathPrefix: '/',
      logLevel: 'info',
      logFormat: 'json',
    };
    expect(loadGiven({}).configuration).toEqual(expected);
  });

  it('are those of spec/tables/limits.yaml, that of the dashboard too [CONFIG-014, DASH-030]', () => {
    const defaults: Readonly<Record<string, unknown>> = loadGiven({}).configuration;
    const different = limitRows.filter(({ name, derived, default: expected }) => {
      const kind = kinds.get(name);
      if (kind === undefined) return false;
      if (derived !== undefined) return !('derived' in kind);
      return !isDeepStrictEqual(defaults[propertyName(name as ConfigurationKey)], expected);
    });
    expect(different.map(({ name }) => name)).toEqual([]);
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
    const others = limitRows.filter(({ name }) => !kinds.has(name));
    expect(others.map(({ name, note = '' }) => [name, note.startsWith('fixed')])).toEqual([
      ['initialWindow', true],
      ['burstPerMillisecond', true],
      ['minRefusalsPerSecond', true],
      ['refusedBytesPerMillisecond', true],
      ['defaultListLimit', true],
      ['maxListLimit', true],
      ['maxUsers', true],
      ['maxEntriesPerUser', true],
      ['minAdvisedTokenLength', true],
    ]);
  });

  it('follow the values they are derived from', () => {
    const { configuration } = loadGiven({
      flags: { 'memory-limit': '1GiB', 'max-message-size': '2MiB', host: 'broker.example' },
    });
    expect(configuration.maxQueuedBytes).toBe(GIB / 2);
    expect(configuration.maxDecompressedSizeBytes).toBe(2 * 1024 ** 2);
    expect(configuration.allowedHosts).toEqual(['broker.example', '127.0.0.1', 'localhost']);
  });

  it('can all be written as flags and mean the same', () => {
    const { configuration, settings } = loadGiven({});
    const flags = Object.fromEntries(settings.map(({ key, text }) => [flagName(key), text]));
    expect(loadGiven({ flags }).configuration).toEqual(configuration);
  });
});

describe('a store of a module', () => {
  const module = './my-store.mjs';

  it('is used when its module is given, wherever that is, and has no path unless one is given [CONFIG-016]', () => {
    const none = { storage: 'module', storageModule: module, storagePath: '' };
    expect(loadGiven({ flags: { 'storage-module': module } }).configuration).toMatchObject(none);
    expect(loadGiven({ environment: { TRUEMQ_STORAGE_MODULE: module } }).configuration).toMatchObject(none);
    expect(loadGiven({ file: `storageModule: ${module}` }).configuration).toMatchObject(none);
    const flags = { storage: 'module', 'storage-module': module, 'storage-path': 'a place' };
    expect(loadGiven({ flags }).configuration).toMatchObject({ ...none, storagePath: 'a place' });
  });

  it('does not replace a store that was asked for explicitly, not even the default [CONFIG-017]', () => {
    const given = { flags: { 'storage-module': module }, file: 'storage: memory' };
    expect(problemsOf(given)).toEqual([
      'storage memory (file truemq.yaml) and storageModule ./my-store.mjs (flag --storage-module) do not go together; allowed is storage module, or no storageModule',
    ]);
  });

  it('is taken back by an empty text', () => {
    const { configuration } = loadGiven({
      flags: { 'storage-module': '' },
      file: `storageModule: ${module}`,
    });
    expect(configuration).toMatchObject({ storage: 'memory', storageModule: '', storagePath: 'truemq.db' });
  });
});

describe('precedence', () => {
  it('is flag, environment, file, default, and each value knows its origin [CONFIG-001, CONFIG-007]', () => {
    const { configuration, settings } = loadGiven({
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
      const text = loadGiven({}).settings.find((setting) => setting.key === key)?.text ?? '';
      // A path needs the storage that it is of, and the name of a superuser needs authentication.
      const environment = {
        TRUEMQ_STORAGE: 'memory',
        TRUEMQ_ENABLE_AUTHENTICATION: 'false',
        [environmentName(key)]: text,
      };
      const { settings } = loadGiven({ environment });
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
    expect(loadGiven({ file, path: 'truemq.json' }).configuration).toMatchObject({
      ackTimeoutMs: 250,
      retryDelayMs: 5,
      maxMessageSizeBytes: 2048,
      enableAutoCreate: false,
      rateLimit: false,
      supportedCompressions: ['gzip'],
    });
  });

  it('may be empty', () => {
    expect(loadGiven({ file: '# nothing yet\n' }).configuration).toEqual(loadGiven({}).configuration);
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
    [
      'port: .inf',
      'port (file truemq.yaml): came Infinity; allowed is a port from 1 to 65535, or 0 for any free one',
    ],
    ['prot: 1', 'prot (file truemq.yaml): no such key; did you mean port?'],
    ['- port', 'file truemq.yaml: holds no map of keys to values'],
  ])('refuses %j [CONFIG-002, CONFIG-003]', (file, problem) => {
    expect(problemsOf({ file })).toEqual([problem]);
  });

  it('that breaks off is named with the place [CONFIG-006]', () => {
    expect(problemsOf({ file: '{"port": 1', path: 'truemq.json' })[0]).toMatch(
      /^file truemq\.json: is no JSON: /,
    );
    expect(problemsOf({ file: 'port: 1\nport: 2\n' })[0]).toMatch(/^file truemq\.yaml: is no YAML: .*line 2/);
    expect(problemsOf({ file: '{\n"port": 1,\n\t"port": 2\n}', path: 'truemq.json' })).toEqual([
      'file truemq.json: is no JSON: Map keys must be unique at line 3, column 2:',
    ]);
    expect(problemsOf({ file: 'port: &a [*a]' })).toEqual([
      'file truemq.yaml: is no YAML: an alias contains itself',
    ]);
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
      { 'storage-path': 'orders.db' },
      'storage memory (default) and storagePath orders.db (flag --storage-path) do not go together; allowed is storage sqlite with a storagePath, or storage memory given expressly',
    ],
    [
      { storage: 'sqlite', 'storage-path': '' },
      'storagePath none (flag --storage-path) and storage sqlite (flag --storage) do not go together; allowed is the path of a file with storage sqlite',
    ],
    [{ host: '' }, 'host (flag --host): came ""; allowed is a text that is not empty'],
    [{ prot: '1' }, '--prot: no such flag; did you mean --port?'],
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
    [
      { 'dashboard-port': '2926' },
      'dashboardPort 2926 (flag --dashboard-port) and healthPort 2926 (default) do not go together; allowed is a different port for each, or 0',
    ],
  ] as const)(
    'of %j name key, origin, what came and what is allowed [CONFIG-002, CONFIG-003]',
    (flags, problem) => {
      expect(problemsOf({ flags })).toEqual([problem]);
    },
  );

  it.each(['/mq', 'mq/', 'mq', '//', '/a b/', '/:x/', '/./', '/../', '/a/../b/', '/a/./', '/%2e/'])(
    'name a path prefix that does not begin and end with a slash, or is no plain path: %s [DASH-027]',
    (prefix) => {
      expect(problemsOf({ flags: { 'path-prefix': prefix } })).toEqual([
        `pathPrefix (flag --path-prefix): came "${prefix}"; allowed is a path that begins and ends with a slash, of letters, digits, -, ., _ and ~, without . or .. as a segment`,
      ]);
    },
  );

  it.each(['/', '/mq/', '/a/b-1.x_~/', '/.../', '/.a/b./..c/'])(
    'are none for the path prefix %s [DASH-027]',
    (prefix) => {
      expect(loadGiven({ flags: { 'path-prefix': prefix } }).configuration.pathPrefix).toBe(prefix);
    },
  );

  it('name a dashboard that asks for users where there are none', () => {
    expect(problemsOf({ flags: { 'dashboard-authentication': 'on' } })).toEqual([
      'dashboardAuthentication on (flag --dashboard-authentication) and authDatabasePath none (default) do not go together; allowed is superuserPassword or authDatabasePath with dashboardAuthentication on',
    ]);
    const flags = { 'dashboard-authentication': 'on', 'superuser-password': 'correct horse' };
    expect(problemsOf({ flags })).toEqual([]);
  });

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

  it('are silent for the variables of the commands that connect', () => {
    const environment = { TRUEMQ_URL: 'x', TRUEMQ_DASHBOARD_URL: 'x', TRUEMQ_PASSWORD: 'x' };
    expect(loadGiven({ environment }).warnings).toEqual([]);
  });

  it('are warnings else, and foreign ones nothing', () => {
    const { warnings } = loadGiven({
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
