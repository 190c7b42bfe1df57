// The facts about the broker that a check may use: requested settings that the broker honours, then what the target file declares, then
// the defaults of the protocol. Pure. Areas: LIMIT, RETRY.
import type { Check, TargetFacts } from '../check.ts';
import type { ConfigurationRequest, QueueDefaultSettings } from '../configuration.ts';
import { joinedRequest } from '../configuration.ts';
import { honouredPart, honoursSetting } from '../target/honours.ts';
import type { Target } from '../target/target-file.ts';

const defaults = {
  maxMessageSizeBytes: 1_048_576,
  ackTimeoutMs: 30_000,
  retryDelayMs: 1000,
  maxRetryDelayMs: 120_000,
  frameTimeoutMs: 30_000,
  shutdownTimeoutMs: 30_000,
  subscriberWindow: 1,
  publishesPerSecond: 1000,
};

/** The configuration for a broker of this check: what the check needs, and what it prefers if the target honours it. */
export function requestOf(check: Check, lifecycle: Target['lifecycle']): ConfigurationRequest {
  const preferred = honouredPart(check.prefers ?? {}, lifecycle);
  return joinedRequest(preferred, check.requires?.configuration ?? {});
}

/** `unsupported`: the settings that the adapter does not honour, by dotted name. */
export function targetFacts(target: Target, check: Check, unsupported: readonly string[] = []): TargetFacts {
  const configuration = check.requires?.configuration ?? {};
  const limits = {
    ...target.limits,
    ...preferredOf('limits', target, check, unsupported),
    ...configuration.limits,
  };
  const timing = {
    ...target.timing,
    ...preferredOf('timing', target, check, unsupported),
    ...configuration.timing,
  };
  return {
    name: target.name,
    capabilities: new Set(target.capabilities ?? []),
    configuration,
    maxMessageSizeBytes: limits.maxMessageSizeBytes ?? defaults.maxMessageSizeBytes,
    ackTimeoutMs: timing.ackTimeoutMs ?? defaults.ackTimeoutMs,
    retryDelayMs: timing.retryDelayMs ?? defaults.retryDelayMs,
    maxRetryDelayMs: timing.maxRetryDelayMs ?? defaults.maxRetryDelayMs,
    frameTimeoutMs: timing.frameTimeoutMs ?? defaults.frameTimeoutMs,
    shutdownTimeoutMs: timing.shutdownTimeoutMs ?? defaults.shutdownTimeoutMs,
    queueDefaults: preferredQueueDefaults(target, check, unsupported),
    countsConnections: typeof target.limits?.maxConnectionsPerIpPerWindow === 'number',
    publishesPerSecond: publishRateOf(target),
    subscriberWindow: target.limits?.subscriberWindow ?? defaults.subscriberWindow,
    credentials: {},
  };
}

/** A broker that limits connections has a rate of messages too. */
function publishRateOf({ lifecycle, limits }: Target): number | undefined {
  if (honoursSetting(lifecycle, 'rateLimit')) return undefined;
  const isLimited = limits?.maxConnectionsPerIpPerWindow !== undefined;
  return limits?.maxMessagesPerClientPerSecond ?? (isLimited ? defaults.publishesPerSecond : undefined);
}

/** The preferred settings of a group that the started broker honours. */
function preferredOf<Group extends 'timing' | 'limits'>(
  group: Group,
  { lifecycle }: Target,
  check: Check,
  unsupported: readonly string[],
): ConfigurationRequest[Group] {
  if (unsupported.includes(group)) return {};
  const entries = Object.entries(honouredPart(check.prefers ?? {}, lifecycle)[group] ?? {});
  return Object.fromEntries(entries.filter(([name]) => !unsupported.includes(`${group}.${name}`)));
}

/** The preferred queue defaults, if the started broker honours all of them. */
function preferredQueueDefaults(
  { lifecycle }: Target,
  check: Check,
  unsupported: readonly string[],
): QueueDefaultSettings | undefined {
  const wanted = check.prefers?.queueDefaults;
  const { queueDefaults } = honouredPart(check.prefers ?? {}, lifecycle);
  const refused = unsupported.some((name) => name === 'queueDefaults' || name.startsWith('queueDefaults.'));
  const isWhole = Object.keys(wanted ?? {}).length === Object.keys(queueDefaults ?? {}).length;
  return refused || !isWhole ? undefined : queueDefaults;
}
