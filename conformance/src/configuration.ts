// The neutral configuration: the settings that a check can request from any broker. The adapter receives it as one JSON line. An absent
// setting, or null, means the broker's own default; `rateLimit: null` means no rate limit. Areas: LIMIT, QUEUE, RETRY, AUTH, TLS.

export type LimitSettings = {
  readonly maxConnections?: number;
  readonly maxMessageSizeBytes?: number;
  readonly maxInFlightPerSubscriber?: number;
  readonly maxBlockedPublishes?: number;
  readonly maxQueuedBytes?: number;
  readonly maxQueues?: number;
  readonly maxSubscriptionsPerConnection?: number;
  /** Unsent bytes of one connection. */
  readonly maxOutboundBytes?: number;
  /** Memory for queues, subscriptions and deliveries in flight. */
  readonly maxStructureBytes?: number;
  /** Memory that the whole process may use. */
  readonly memoryLimitBytes?: number;
};

export type QueueDefaultSettings = {
  readonly deliveryMode?: 'RoundRobin' | 'FanOutWithAck' | 'FanOutWithoutAck' | 'PriorityBased';
  readonly maxQueueSize?: number;
  readonly enableAutoCreate?: boolean;
};

/** Every duration in milliseconds. */
export type TimingSettings = {
  readonly ackTimeoutMs?: number;
  readonly retryDelayMs?: number;
  readonly maxRetryDelayMs?: number;
  readonly handshakeTimeoutMs?: number;
  readonly frameTimeoutMs?: number;
  readonly idleTimeoutMs?: number;
  readonly shutdownTimeoutMs?: number;
};

export type RateLimitSettings = {
  readonly maxConnectionsPerIpPerWindow?: number;
  readonly connectionWindowMs?: number;
  readonly maxMessagesPerClientPerSecond?: number;
};

export type AuthenticationSettings = {
  readonly token?: string;
  readonly superuser?: { readonly username: string; readonly password: string };
  /** The bcrypt cost of new passwords: checks that connect many users prefer a low one. */
  readonly passwordCost?: number;
};

/** Paths of files. A check names files of `fixtures/tls`; the engine replaces the names by paths (target/test-certificates.ts). */
export type TlsSettings = {
  readonly certificatePath: string;
  readonly keyPath?: string;
  readonly certificatePassword?: string;
};

/** The settings that a check requests. Settings that it does not name keep the broker's default. */
export type ConfigurationRequest = {
  readonly storage?: 'memory' | 'sqlite' | 'durable';
  readonly authentication?: AuthenticationSettings | null;
  readonly tls?: TlsSettings | null;
  readonly rateLimit?: RateLimitSettings | null;
  readonly limits?: LimitSettings;
  readonly queueDefaults?: QueueDefaultSettings;
  readonly timing?: TimingSettings;
};

export type ListenAddress = { readonly host: string; readonly port: number };

/** The complete configuration: a request with all groups, the addresses to listen on, and a data directory that only this broker uses. */
export type NeutralConfiguration = {
  readonly protocol: 1;
  readonly tcp: ListenAddress;
  readonly health: ListenAddress;
  readonly dashboard: ListenAddress;
  readonly dataDirectory: string;
  readonly storage: 'memory' | 'sqlite' | 'durable';
  readonly authentication: AuthenticationSettings | null;
  readonly tls: TlsSettings | null;
  readonly rateLimit: RateLimitSettings | null;
  readonly limits: LimitSettings;
  readonly queueDefaults: QueueDefaultSettings;
  readonly timing: TimingSettings;
};

/** Completes a request: storage in memory, no credentials, no rate limit, free ports on the loopback address. */
export function fillConfiguration(
  request: ConfigurationRequest,
  dataDirectory: string,
): NeutralConfiguration {
  const anyPort: ListenAddress = { host: '127.0.0.1', port: 0 };
  return {
    protocol: 1,
    tcp: anyPort,
    health: anyPort,
    dashboard: anyPort,
    dataDirectory,
    storage: request.storage ?? 'memory',
    authentication: request.authentication ?? null,
    tls: request.tls ?? null,
    rateLimit: request.rateLimit ?? null,
    limits: request.limits ?? {},
    queueDefaults: request.queueDefaults ?? {},
    timing: request.timing ?? {},
  };
}

/** Both requests as one. If both name a setting, the value of the second is used. */
export function joinedRequest(
  first: ConfigurationRequest,
  second: ConfigurationRequest,
): ConfigurationRequest {
  const groups = [...new Set([...Object.keys(first), ...Object.keys(second)])];
  return Object.fromEntries(groups.map((group) => [group, joinedGroup(group, first, second)]));
}

function joinedGroup(group: string, first: object, second: object): unknown {
  const [earlier, later] = [first, second].map((request) => (request as Record<string, unknown>)[group]);
  if (later === undefined) return earlier;
  const areGroups = isGroup(earlier) && isGroup(later) && later !== null;
  return areGroups ? { ...(earlier as object), ...(later as object) } : later;
}

/**
 * The dotted names of the settings that a request names, as an adapter lists them in `unsupported`. A group without settings, which asks
 * for the broker's own values, has its own name.
 */
export function settingNames(request: ConfigurationRequest): readonly string[] {
  return Object.entries(request).flatMap(([group, value]) => {
    const names = isGroup(value) && value !== null ? Object.keys(value) : [];
    return names.length === 0 ? [group] : names.map((name) => `${group}.${name}`);
  });
}

function isGroup(value: unknown): boolean {
  return typeof value === 'object';
}

/** The same text for equal requests, in whatever order their keys were written. Checks with the same text share brokers. */
export function configurationKey(request: ConfigurationRequest): string {
  return JSON.stringify(sorted(request));
}

function sorted(value: unknown): unknown {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}
