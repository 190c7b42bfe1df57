// What a check may know about the broker it talks to: what was asked for, what the target file declares, and else the
// protocol's defaults. Pure. Areas: LIMIT, RETRY.
import type { Check, TargetFacts } from '../check.ts';
import type { Target } from '../target/target-file.ts';

const defaults = {
  maxMessageSizeBytes: 1_048_576,
  ackTimeoutMs: 30_000,
  retryDelayMs: 1000,
  subscriberWindow: 1,
};

export function targetFacts(target: Target, check: Check): TargetFacts {
  const configuration = check.requires?.configuration ?? {};
  const limits = { ...target.limits, ...configuration.limits };
  const timing = { ...target.timing, ...configuration.timing };
  return {
    name: target.name,
    capabilities: new Set(target.capabilities ?? []),
    configuration,
    maxMessageSizeBytes: limits.maxMessageSizeBytes ?? defaults.maxMessageSizeBytes,
    ackTimeoutMs: timing.ackTimeoutMs ?? defaults.ackTimeoutMs,
    retryDelayMs: timing.retryDelayMs ?? defaults.retryDelayMs,
    subscriberWindow: target.limits?.subscriberWindow ?? defaults.subscriberWindow,
  };
}
