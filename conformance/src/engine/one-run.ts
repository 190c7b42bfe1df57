// How a check of a plan runs once, and what comes of it. Types only.
import type { CheckResult } from '../result.ts';
import type { BrokerExit } from '../target/broker-process.ts';
import type { PlayedCheck } from './run-check.ts';

/** `rerun`: 0 for the first run, beside other checks; from 1 for runs alone. `isRepeat`: an earlier result of this run was discarded. */
export type WayOfRun = { readonly rerun: number; readonly ownBroker?: boolean; readonly isRepeat?: boolean };

/** A result; or a shared broker died, and another check may be the cause. */
export type OneRun = ({ readonly kind: 'result' } & PlayedCheck) | SharedDeath;

/** `broken`: how the check failed before that by what its frames broke. */
export type SharedDeath = {
  readonly kind: 'shared death';
  readonly death: BrokerExit;
  readonly broken: CheckResult | undefined;
};
