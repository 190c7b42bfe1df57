// The observation of a broker: facts in words, and values for a target file. Types, the empty observation and how two are merged.
import type { Capability } from '../catalogue-words.ts';
import type { ProbeClient } from './probe-client.ts';

export type Fact = { readonly topic: string; readonly text: string };

export type Observation = {
  readonly facts: readonly Fact[];
  readonly capabilities: readonly Capability[];
  /** It answered the handshake with ConnectAck. */
  readonly speaks: boolean;
  readonly demandsCredentials: boolean;
  readonly identity?: string;
  readonly healthUrl?: string;
  readonly dashboardUrl?: string;
  /** How many messages the broker sent before the first ack. */
  readonly subscriberWindow?: number;
};

/** Observes one part of a broker. */
export type Observer = (client: ProbeClient) => Promise<Partial<Observation>>;

export const emptyObservation: Observation = {
  facts: [],
  capabilities: [],
  speaks: false,
  demandsCredentials: false,
};

export function mergedObservation(first: Observation, more: Partial<Observation>): Observation {
  return {
    ...first,
    ...more,
    facts: [...first.facts, ...(more.facts ?? [])],
    capabilities: [...new Set([...first.capabilities, ...(more.capabilities ?? [])])],
  };
}
