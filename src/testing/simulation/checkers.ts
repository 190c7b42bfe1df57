// Runs all checkers over one ledger. Keeps each complaint once, because a broken rule is often broken a thousand times.

import type { BrokerSettings } from '../../broker/interface/settings.ts';
import { answersChecker } from './checkers/answers.ts';
import { attemptsChecker } from './checkers/attempts.ts';
import type { Checker, Complain } from './checkers/checker.ts';
import { countersChecker } from './checkers/counters.ts';
import { deadLettersChecker } from './checkers/dead-letters.ts';
import { deliveriesChecker } from './checkers/deliveries.ts';
import { endingsChecker } from './checkers/endings.ts';
import { orderChecker } from './checkers/order.ts';
import { queuesChecker } from './checkers/queues.ts';
import { survivalsChecker } from './checkers/survivals.ts';
import { terminalStatesChecker } from './checkers/terminal-states.ts';
import { windowsChecker } from './checkers/windows.ts';
import type { Observation } from './history.ts';
import { Ledger } from './ledger.ts';

export type CheckersOptions = {
  readonly settings: BrokerSettings;
  readonly shutdownTimeoutMs: number;
  /** Longest lateness of the broker, because of commits and a busy event loop. */
  readonly slackMs: number;
  /** Compressing may delay the frames of a connection, so the time of a write proves little. */
  readonly framesMayLag: boolean;
};

export class Checkers {
  readonly ledger: Ledger;
  readonly complaints = new Set<string>();
  readonly #checkers: readonly { readonly checker: Checker; readonly complain: Complain }[];

  constructor({ settings, shutdownTimeoutMs, slackMs, framesMayLag }: CheckersOptions) {
    this.ledger = new Ledger(settings, shutdownTimeoutMs);
    const checkers: Readonly<Record<string, Checker>> = {
      answers: answersChecker(framesMayLag),
      deliveries: deliveriesChecker(),
      attempts: attemptsChecker(slackMs),
      windows: windowsChecker(),
      order: orderChecker(),
      counters: countersChecker(),
      queues: queuesChecker(slackMs),
      deadLetters: deadLettersChecker(),
      terminalStates: terminalStatesChecker(),
      endings: endingsChecker(shutdownTimeoutMs, slackMs, framesMayLag),
      survivals: survivalsChecker(),
    };
    this.#checkers = Object.entries(checkers).map(([name, checker]) => ({
      checker,
      complain: (text) => void this.complaints.add(`${name}: ${text}`),
    }));
  }

  observe(observation: Observation): void {
    const fact = this.ledger.book(observation);
    if (fact === undefined) return;
    for (const { checker, complain } of this.#checkers) checker(fact, this.ledger, complain);
    // All checkers have seen the end of the life.
    if (fact.kind === 'lifeEnded') this.ledger.beginAnew();
  }
}
