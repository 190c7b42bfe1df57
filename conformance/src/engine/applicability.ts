// Decides before anything is started whether a check can run on a target. Pure. A capability that is not declared makes an optional check
// not applicable, but never skips a MUST of a profile that the target claims, unless
// the rule binds only brokers that announce the capability. If the target cannot provide a configuration or a restart,
// or a declared limit leaves too little room, the check could not run, and the gate stays closed.
import { announcedCapabilities, type Level, type Profile } from '../catalogue-words.ts';
import type { Check } from '../check.ts';
import type { ConfigurationRequest } from '../configuration.ts';
import { settingNames } from '../configuration.ts';
import { display } from '../expectation.ts';
import { honoursSetting } from '../target/honours.ts';
import type { Target } from '../target/target-file.ts';

export type Applicability =
  | { readonly kind: 'run' }
  | { readonly kind: 'not applicable' | 'could not run'; readonly reason: string };

const runs: Applicability = { kind: 'run' };

export function applicabilityOf(
  check: Check,
  level: Level,
  target: Target,
  claimed: ReadonlySet<Profile>,
): Applicability {
  const unclaimed = (check.requires?.profiles ?? []).filter((profile) => !claimed.has(profile));
  if (unclaimed.length > 0) {
    return {
      kind: 'not applicable',
      reason: `the target does not claim the profile ${unclaimed.join(', ')}`,
    };
  }
  const absent = undeclaredCapabilities(check, target);
  const isConditional = absent.some((capability) => announcedCapabilities.has(capability));
  const binds = level === 'MUST' && claimed.has(check.profile) && !isConditional;
  if (absent.length > 0 && !binds) {
    return { kind: 'not applicable', reason: `the target does not declare ${absent.join(', ')}` };
  }
  return settingsApplicability(check, target);
}

export function undeclaredCapabilities(check: Check, target: Target): readonly string[] {
  const declared = target.capabilities ?? [];
  return (check.requires?.capabilities ?? []).filter((capability) => !declared.includes(capability));
}

function settingsApplicability(check: Check, target: Target): Applicability {
  const isolation = check.isolation ?? 'shared';
  if (target.lifecycle.kind === 'attach' && isolation !== 'shared' && check.sharesAttached !== true) {
    const need = isolation === 'fresh' ? 'a broker of its own' : 'to stop and start the broker';
    return { kind: 'could not run', reason: `it needs ${need}, and this target is attached` };
  }
  const room = missingRoom(check, target);
  if (room !== undefined) return { kind: 'could not run', reason: room };
  const needs = unmetSettings(check.requires?.configuration ?? {}, target);
  if (needs.length === 0) return runs;
  const why =
    target.lifecycle.kind === 'attach'
      ? 'this target is attached'
      : 'the hooks of this target do not honour that setting';
  return { kind: 'could not run', reason: `it needs ${needs.join(', ')}, and ${why}` };
}

/**
 * What checks need that do not ask for the setting themselves, one at a time: they have up to 54 connections and 131 queues then, with those of
 * ended checks. With less, a check would fail for the configuration of the broker.
 */
const leastSettings: Readonly<Record<string, number>> = {
  'limits.maxConnections': 64,
  'limits.maxQueues': 256,
  'limits.maxSubscriptionsPerConnection': 8,
  'limits.maxBlockedPublishes': 16,
  'limits.maxQueuedBytes': 32 * 1024 * 1024,
  'limits.maxMessagesPerClientPerSecond': 500,
  'timing.idleTimeoutMs': 30_000,
};

/** The same for checks with many messages. */
const leastInVolume: Readonly<Record<string, number>> = {
  ...leastSettings,
  'limits.maxSubscriptionsPerConnection': 128,
  'limits.maxMessagesPerClientPerSecond': 1000,
};

/** What several checks need at the same time: eight, and those that wait beside them, have up to 280 connections and 462 queues. */
const [severalConnections, severalQueues] = [512, 1024];

/** Whether checks can run at the same time, as far as the target declares limits of a broker that the runner does not configure. */
export function hasRoomForSeveral({ lifecycle, limits }: Target): boolean {
  if (lifecycle.kind === 'spawn') return true;
  const { maxConnections = severalConnections, maxQueues = severalQueues } = limits ?? {};
  return maxConnections >= severalConnections && maxQueues >= severalQueues;
}

const rateName = 'limits.maxMessagesPerClientPerSecond';

/** Which declared setting of a broker that the runner does not configure is too small for the check, in words; undefined if none is. */
function missingRoom(check: Check, target: Target): string | undefined {
  if (target.lifecycle.kind === 'spawn') return undefined;
  const asked = settingNames(check.requires?.configuration ?? {});
  const least = Object.entries(check.volume === true ? leastInVolume : leastSettings);
  for (const [name, value] of least) {
    // Hooks that honour the group start the broker without these limits.
    if (name === rateName && honoursSetting(target.lifecycle, 'rateLimit')) continue;
    const declared = settingAt({ timing: target.timing ?? {}, limits: target.limits ?? {} }, name);
    if (typeof declared === 'number' && declared < value && !asked.includes(name))
      return `it needs ${name} of ${value} or more, and the target declares ${declared}`;
  }
  return undefined;
}

/** The requested settings that the target does not honour, and that its file does not declare with the same value. */
function unmetSettings(request: ConfigurationRequest, target: Target): readonly string[] {
  const declared: ConfigurationRequest = { timing: target.timing ?? {}, limits: target.limits ?? {} };
  return settingNames(request)
    .filter((name) => !honoursSetting(target.lifecycle, name))
    .filter((name) => !Object.is(settingAt(request, name), settingAt(declared, name)))
    .map((name) => `${name} = ${display(settingAt(request, name))}`);
}

function settingAt(request: ConfigurationRequest, dotted: string): unknown {
  return dotted
    .split('.')
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], request);
}

/** The requested settings that an adapter said it could not honour. */
export function unsupportedSettings(
  request: ConfigurationRequest,
  unsupported: readonly string[],
): readonly string[] {
  return settingNames(request).filter((name) =>
    unsupported.some((refused) => refused === name || name.startsWith(`${refused}.`)),
  );
}
