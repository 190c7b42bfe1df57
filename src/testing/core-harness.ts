// The broker core as unit tests use it: in a harness, with the naive broker beside it and the audit, so that each example checks the model
// too.

import { Broker } from '../broker/broker.ts';
import type { BrokerSettings } from '../broker/interface/settings.ts';
import { BrokerHarness, testSettings } from './broker-harness.ts';
import { ComparedBrokers } from './compared-brokers.ts';
import { listPacking } from './list-packing.ts';

/** A new core with the default settings but for those given. It packs from the fourth waiting message on. */
export function testCore(settings: Partial<BrokerSettings> = {}): BrokerHarness {
  const all = { ...testSettings, packing: listPacking(), ...settings };
  return new BrokerHarness(new ComparedBrokers(new Broker(all), all));
}

/** Ids with a common first part: `m1`, `m2`, .. */
export function ids(count: number, prefix = 'm'): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`);
}
