// The whole look at a broker of which nothing but an address is known. What cannot be seen is said so; nothing is judged.
import { windowPacer } from '../engine/pacer.ts';
import { ExpectationFailure } from '../expectation.ts';
import type { Endpoints } from '../target/target-file.ts';
import type { Timing } from '../timing.ts';
import { algorithms, greeting, versions } from './handshake.ts';
import { observeDashboard, observeHealth } from './http-surfaces.ts';
import type { Aspect, Observation } from './observation.ts';
import { joined, nothingSeen } from './observation.ts';
import { expiry, modesTaken, negativeAcks, subscriberWindow } from './queues.ts';
import { messageSizes } from './sizes.ts';
import { Visitor } from './visitor.ts';

export type ObserveSetting = {
  readonly tcp: Endpoints['tcp'];
  readonly timing: Timing;
  readonly healthUrl: string;
  readonly dashboardUrl: string;
  readonly name: string;
  readonly credentials?: Readonly<Record<string, string>>;
};

/** What a broker allows to one address unless it was told otherwise; an earlier look may have used it up. */
const defaultRate = { maxCount: 20, windowMs: 60_000 } as const;

const inside: readonly (readonly [topic: string, aspect: Aspect])[] = [
  ['compression', algorithms],
  ['version', versions],
  ['modes', modesTaken],
  ['window', subscriberWindow],
  ['ttl', expiry],
  ['size', messageSizes],
];

export async function observe(setting: ObserveSetting): Promise<Observation> {
  const visitor = new Visitor({ ...setting, pacer: windowPacer(defaultRate.maxCount, defaultRate.windowMs) });
  let seen = joined(nothingSeen, await attempt('handshake', greeting, visitor));
  if (seen.speaks) {
    for (const [topic, aspect] of inside) seen = joined(seen, await attempt(topic, aspect, visitor));
    if (seen.capabilities.includes('nack')) seen = joined(seen, await attempt('nack', negativeAcks, visitor));
  }
  const left = await visitor.leave();
  seen = joined(seen, await observeHealth(setting.healthUrl, setting.timing));
  seen = joined(seen, await observeDashboard(setting.dashboardUrl, setting.timing));
  const facts = left.map((queue) => ({
    topic: 'left behind',
    text: `the queue ${queue} could not be deleted`,
  }));
  return joined(seen, { facts });
}

/** An aspect that the broker does not play along with is a fact too. */
async function attempt(topic: string, aspect: Aspect, visitor: Visitor): Promise<Partial<Observation>> {
  try {
    return await aspect(visitor);
  } catch (error) {
    if (!(error instanceof ExpectationFailure)) throw error;
    return { facts: [{ topic, text: `not seen: ${error.message} (${error.actual})` }] };
  }
}
