// Observes everything about a broker of which only the address is known. A part that cannot be observed is reported as such; nothing is
// judged.
import { windowPacer } from '../engine/pacer.ts';
import { ExpectationFailure } from '../expectation.ts';
import { untilInterrupted } from '../interruption.ts';
import type { Endpoints } from '../target/target-file.ts';
import type { Timing } from '../timing.ts';
import type { Credentials } from '../wire/credentials.ts';
import { observeAlgorithms, observeHandshake, observeVersions } from './handshake.ts';
import { observeDashboard, observeHealth } from './http-surfaces.ts';
import type { Observation, Observer } from './observation.ts';
import { emptyObservation, mergedObservation } from './observation.ts';
import { ProbeClient } from './probe-client.ts';
import { observeExpiry, observeModes, observeNegativeAcks, observeSubscriberWindow } from './queues.ts';
import { observeMessageSizes } from './sizes.ts';

export type ObserveSetting = {
  readonly tcp: Endpoints['tcp'];
  readonly timing: Timing;
  readonly healthUrl: string;
  readonly dashboardUrl: string;
  readonly name: string;
  readonly credentials?: Credentials;
  /** Ends the observation. */
  readonly signal: AbortSignal;
};

/** The default connection rate for one address; an earlier observation may have used it up. */
const defaultRate = { maxCount: 20, windowMs: 60_000 } as const;

const observersAfterHandshake: readonly (readonly [topic: string, observer: Observer])[] = [
  ['compression', observeAlgorithms],
  ['version', observeVersions],
  ['modes', observeModes],
  ['window', observeSubscriberWindow],
  ['ttl', observeExpiry],
  ['size', observeMessageSizes],
];

/** Throws Interrupted when the signal comes; the queues that were made are deleted then too. */
export async function observe(setting: ObserveSetting): Promise<Observation> {
  const client = new ProbeClient({
    ...setting,
    pacer: windowPacer(defaultRate.maxCount, defaultRate.windowMs),
  });
  let left: readonly string[] = [];
  let seen = emptyObservation;
  try {
    seen = await untilInterrupted(setting.signal, () => observeBroker(client));
  } finally {
    left = await client.cleanUp();
  }
  seen = mergedObservation(seen, await observeHealth(setting.healthUrl, setting.timing));
  seen = mergedObservation(seen, await observeDashboard(setting.dashboardUrl, setting.timing));
  const facts = left.map((queue) => ({
    topic: 'not deleted',
    text: `queue ${queue} could not be deleted`,
  }));
  return mergedObservation(seen, { facts });
}

async function observeBroker(client: ProbeClient): Promise<Observation> {
  let seen = mergedObservation(
    emptyObservation,
    await observedOrFault('handshake', observeHandshake, client),
  );
  if (!seen.speaks) return seen;
  for (const [topic, observer] of observersAfterHandshake)
    seen = mergedObservation(seen, await observedOrFault(topic, observer, client));
  if (!seen.capabilities.includes('nack')) return seen;
  return mergedObservation(seen, await observedOrFault('nack', observeNegativeAcks, client));
}

/** A failed observation is a fact too. */
async function observedOrFault(
  topic: string,
  observer: Observer,
  client: ProbeClient,
): Promise<Partial<Observation>> {
  try {
    return await observer(client);
  } catch (error) {
    if (!(error instanceof ExpectationFailure)) throw error;
    return { facts: [{ topic, text: `not observed: ${error.message} (${error.actual})` }] };
  }
}
