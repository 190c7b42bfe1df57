// From the adapter protocol to configuration keys: the whole request, the minimal one, and what cannot be honoured.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { configurationKeys } from '../config/keys.ts';
import { testCommandContext } from '../testing/command-context.ts';
import { parseAdapterRequest } from './adapter-request.ts';
import { loadAdapterConfiguration } from './configuration-flags.ts';

const minimal = {
  protocol: 1,
  tcp: { host: '127.0.0.1', port: 0 },
  health: { host: '127.0.0.1', port: 0 },
  dashboard: { host: '127.0.0.1', port: 0 },
  dataDirectory: 'data',
  storage: 'memory',
  authentication: null,
  tls: null,
  rateLimit: null,
  limits: {},
  queueDefaults: {},
  timing: {},
};

const maximal = {
  ...minimal,
  tls: { certificatePath: 'broker.pfx', keyPath: 'broker.key', certificatePassword: 'sesame' },
  rateLimit: { maxConnectionsPerIpPerWindow: 5, connectionWindowMs: 1_000, maxMessagesPerClientPerSecond: 7 },
  limits: {
    maxConnections: 3,
    maxMessageSizeBytes: 4_096,
    maxInFlightPerSubscriber: 2,
    maxBlockedPublishes: 9,
    maxQueuedBytes: 10_000,
    maxQueues: 8,
    maxSubscriptionsPerConnection: 6,
    maxOutboundBytes: 65_536,
    maxStructureBytes: 100_000,
  },
  queueDefaults: { deliveryMode: 'PriorityBased', maxQueueSize: 11, enableAutoCreate: false },
  timing: {
    ackTimeoutMs: 500,
    retryDelayMs: 100,
    maxRetryDelayMs: 400,
    handshakeTimeoutMs: 600,
    frameTimeoutMs: 700,
    idleTimeoutMs: 800,
    shutdownTimeoutMs: 900,
  },
};

function parse(request: unknown) {
  return parseAdapterRequest(Buffer.from(JSON.stringify(request)));
}

function load(request: unknown) {
  return loadAdapterConfiguration(parse(request).entries, testCommandContext()).configuration;
}

describe('an adapter request', () => {
  it('is, in these tests, one that the runner could send', () => {
    const path = new URL('../../conformance/schemas/adapter.schema.json', import.meta.url);
    const ajv = new Ajv2020({ strict: false });
    ajv.addSchema(JSON.parse(readFileSync(path, 'utf8')), 'adapter');
    for (const request of [minimal, maximal])
      expect(ajv.validate('adapter#/$defs/request', request), JSON.stringify(ajv.errors)).toBe(true);
  });

  it('that asks for nothing gets the defaults, without rate limit', () => {
    expect(parse(minimal).unsupported).toEqual([]);
    expect(load(minimal)).toMatchObject({
      port: 0,
      healthPort: 0,
      dashboard: true,
      dashboardPort: 0,
      rateLimit: false,
      maxQueueSize: 10_000,
      ackTimeoutMs: 30_000,
    });
  });

  it('that asks for everything gets it', () => {
    expect(parse(maximal).unsupported).toEqual([]);
    expect(load(maximal)).toMatchObject({
      tlsEnabled: true,
      tlsCertificatePath: 'broker.pfx',
      tlsKeyPath: 'broker.key',
      tlsCertificatePassword: 'sesame',
      rateLimit: true,
      maxConnectionsPerIpPerWindow: 5,
      connectionWindowMs: 1_000,
      maxMessagesPerClientPerSecond: 7,
      maxConnections: 3,
      maxMessageSizeBytes: 4_096,
      maxInFlightPerSubscriber: 2,
      maxBlockedPublishes: 9,
      maxQueuedBytes: 10_000,
      maxQueues: 8,
      maxSubscriptionsPerConnection: 6,
      maxOutboundBytes: 65_536,
      maxStructureBytes: 100_000,
      defaultDeliveryMode: 'PriorityBased',
      maxQueueSize: 11,
      enableAutoCreate: false,
      ackTimeoutMs: 500,
      retryDelayMs: 100,
      maxRetryDelayMs: 400,
      handshakeTimeoutMs: 600,
      frameTimeoutMs: 700,
      idleTimeoutMs: 800,
      shutdownTimeoutMs: 900,
    });
  });

  it('names keys that exist', () => {
    for (const key of parse(maximal).entries.keys()) expect(configurationKeys).toHaveProperty(key);
  });

  it.each(['durable', 'sqlite'])('for a %s store gets the file in its folder', (storage) => {
    const { entries, unsupported } = parse({ ...minimal, storage, dataDirectory: '/data', dashboard: null });
    expect(entries.get('storage')).toBe('sqlite');
    expect(entries.get('storagePath')).toBe(join('/data', 'truemq.db'));
    expect(unsupported).toEqual([]);
  });

  it('for a token and a superuser gets them, with the users in its folder', () => {
    const superuser = { username: 'admin', password: 'secret' };
    const authentication = { token: 'x'.repeat(32), superuser, passwordCost: 4 };
    const asked = { ...minimal, dataDirectory: '/data', dashboard: null };
    expect(parse({ ...asked, authentication }).unsupported).toEqual([]);
    expect(load({ ...asked, authentication })).toMatchObject({
      enableAuthentication: true,
      authToken: 'x'.repeat(32),
      superuserUsername: 'admin',
      superuserPassword: 'secret',
      passwordCost: 4,
      authDatabasePath: join('/data', 'auth.db'),
    });
    expect(load({ ...asked, authentication: { token: 'x', superuser: null } })).toMatchObject({
      enableAuthentication: true,
      authDatabasePath: '',
    });
    expect(load({ ...asked, authentication: null }).enableAuthentication).toBe(false);
  });

  it('lists what this version does not have', () => {
    const { unsupported } = parse({
      ...minimal,
      storage: 'tape',
      authentication: { token: 'x', certificates: 'x' },
      tls: { certificatePath: 'x', cipherSuites: 'x' },
      limits: { maxSomething: 1, maxQueues: null },
      dashboard: null,
    });
    expect(load({ ...minimal, dashboard: null }).dashboard).toBe(false);
    expect(unsupported.toSorted()).toEqual([
      'authentication.certificates',
      'limits.maxSomething',
      'storage',
      'tls.cipherSuites',
    ]);
  });

  it.each(['', 'x', '[]', 'null', '{}', '{"protocol":2}'])('%j is refused', (line) => {
    expect(() => parseAdapterRequest(Buffer.from(line))).toThrow(/^adapter request: /);
  });

  it('with an impossible value is refused by the name of the key [CONFIG-003]', () => {
    expect(() => load({ ...minimal, limits: { maxQueues: 0 } })).toThrow(
      /^maxQueues \(file adapter request\): came 0; allowed is /,
    );
  });
});
