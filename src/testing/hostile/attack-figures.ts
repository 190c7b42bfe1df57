// The figures of an attack over several rounds: medians, so that one hiccup of the machine does not decide. Knows nothing of processes.

import type { AttackName } from './attacks.ts';
import type { Logins } from './login-flood.ts';
import type { AttackResult } from './run-attack.ts';

/** The p99 beside an attack may be so many times of what it is alone. */
export const MAX_RATIO = 2;

export type AttackFigures = {
  readonly attack: AttackName;
  /** Whether the broker limited rates as it does by default. */
  readonly limitsRates: boolean;
  readonly alone: Times;
  /** Beside the same attack on a process that discards what it gets; absent: there was no such round. */
  readonly control: Times | undefined;
  readonly beside: Times;
  /** The p99 beside the attack, in parts of that alone. */
  readonly ratio: number;
  readonly isMet: boolean;
  /** The largest of all rounds. */
  readonly aloneResidentBytes: number;
  readonly residentBytes: number;
  /** Of the last round, in the attack with logins. */
  readonly logins: Logins | undefined;
};

export type Times = { readonly p50Ms: number; readonly p99Ms: number };

/** `rounds`: results of one attack, at least one, all with or all without limits of rates. */
export function figuresOf(rounds: readonly AttackResult[]): AttackFigures {
  const last = rounds.at(-1);
  if (last === undefined) throw new Error('There was no round.');
  const [alone, beside] = [
    mediansOf(rounds.map((round) => round.alone)),
    mediansOf(rounds.map((round) => round.beside)),
  ];
  const controls = rounds.flatMap((round) => round.control ?? []);
  const ratio = beside.p99Ms / alone.p99Ms;
  return {
    attack: last.attack,
    limitsRates: last.limitsRates,
    alone,
    control: controls.length === 0 ? undefined : mediansOf(controls),
    beside,
    ratio,
    isMet: ratio <= MAX_RATIO,
    aloneResidentBytes: Math.max(...rounds.map((round) => round.aloneResidentBytes)),
    residentBytes: Math.max(...rounds.map((round) => round.residentBytes)),
    logins: last.deeds.logins,
  };
}

function mediansOf(all: readonly Times[]): Times {
  return { p50Ms: median(all.map(({ p50Ms }) => p50Ms)), p99Ms: median(all.map(({ p99Ms }) => p99Ms)) };
}

/** Of an even number of values the larger of the two in the middle. */
function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
