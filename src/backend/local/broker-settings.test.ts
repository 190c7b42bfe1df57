// The configured values reach the core under its own names, and the defaults are those of the specification.

import { describe, expect, it } from 'vitest';
import { loadConfiguration } from '../../config/load.ts';
import { DeliveryMode } from '../../model/delivery-mode.ts';
import { brokerOptions } from '../../testing/composed-broker.ts';

const GIB = 1024 ** 3;

function options(flags: Readonly<Record<string, string>> = {}) {
  const machine = { memoryBytes: 8 * GIB, heapLimitBytes: 100 * GIB, isTerminal: false };
  const { configuration } = loadConfiguration({
    flags: new Map(Object.entries(flags)),
    environment: {},
    machine,
  });
  return brokerOptions(configuration);
}

describe('the settings of the broker', () => {
  it('are by default those of the specification [LIMIT-019, COMPRESS-019, QUEUE-049, RETRY-005, SHUTDOWN-002]', () => {
    expect(options()).toMatchObject({
      broker: {
        defaultDeliveryMode: DeliveryMode.RoundRobin,
        defaultMaxQueueSize: 10_000,
        enableAutoCreate: true,
        ackTimeoutMs: 30_000,
        retryDelayMs: 1000,
        maxRetryDelayMs: 120_000,
        maxInFlightPerSubscriber: 256,
        maxBlockedPublishes: 1024,
        maxBlockedBytes: 4_194_304,
        maxQueuedBytes: 4 * GIB,
        maxQueues: 100_000,
        maxSubscriptionsPerConnection: 1000,
        maxBurstBytes: 4_194_304,
        maxContentBytes: 1_048_576,
      },
      limits: { maxMessageSizeBytes: 1_048_576, maxDecompressedSizeBytes: 1_048_576, maxHeaderCount: 50 },
      timeouts: { handshakeTimeoutMs: 10_000, frameTimeoutMs: 30_000, idleTimeoutMs: 300_000 },
      supportedCompressions: ['brotli', 'gzip'],
      compressionThresholdBytes: 1024,
      validatePayload: true,
      maxConnections: 1000,
      maxOutboundBytes: 4_194_304,
      maxPendingInputBytes: 4_194_304,
      shutdownTimeoutMs: 30_000,
      rateLimit: {
        maxConnectionsPerIpPerWindow: 20,
        connectionWindowMs: 60_000,
        maxMessagesPerClientPerSecond: 1000,
      },
      serverVersion: 'test',
    });
  });

  it('have no rate limit where it is off', () => {
    expect(options({ 'rate-limit': 'off' })).not.toHaveProperty('rateLimit');
  });

  it.each([
    [
      'default-delivery-mode',
      'PriorityBased',
      { broker: { defaultDeliveryMode: DeliveryMode.PriorityBased } },
    ],
    ['max-queue-size', '5', { broker: { defaultMaxQueueSize: 5 } }],
    ['enable-auto-create', 'false', { broker: { enableAutoCreate: false } }],
    [
      'max-message-size',
      '64KiB',
      {
        limits: { maxMessageSizeBytes: 65_536, maxDecompressedSizeBytes: 65_536 },
        broker: { maxContentBytes: 65_536 },
      },
    ],
    ['max-connections', '7', { maxConnections: 7 }],
  ])('follow --%s %s [CONFIG-013]', (flag, value, expected) => {
    expect(options({ [flag]: value })).toMatchObject(expected);
  });

  it.each([
    ['ack-timeout', '250ms', { broker: { ackTimeoutMs: 250 } }],
    ['retry-delay', '20ms', { broker: { retryDelayMs: 20 } }],
    ['max-retry-delay', '5s', { broker: { maxRetryDelayMs: 5_000 } }],
  ])('follow --%s %s [RETRY-006]', (flag, value, expected) => {
    expect(options({ [flag]: value })).toMatchObject(expected);
  });

  it.each([
    ['max-decompressed-size', '2MiB', { limits: { maxDecompressedSizeBytes: 2_097_152 } }],
    ['supported-compressions', 'gzip', { supportedCompressions: ['gzip'] }],
    ['idle-timeout', '1m', { timeouts: { idleTimeoutMs: 60_000 } }],
    ['validate-payload', 'false', { validatePayload: false }],
  ])('follow --%s %s', (flag, value, expected) => {
    expect(options({ [flag]: value })).toMatchObject(expected);
  });
});
