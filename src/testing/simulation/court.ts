// All judges over one set of books. Complaints are kept, each text once: what is broken once is often broken a thousand times.

import type { BrokerSettings } from '../../broker/interface/settings.ts';
import type { Observation } from './history.ts';
import { answersJudge } from './judges/answers.ts';
import { attemptsJudge } from './judges/attempts.ts';
import { countersJudge } from './judges/counters.ts';
import { deadLettersJudge } from './judges/dead-letters.ts';
import { deliveriesJudge } from './judges/deliveries.ts';
import { endingsJudge } from './judges/endings.ts';
import { fatesJudge } from './judges/fates.ts';
import type { Complain, Judge } from './judges/judge.ts';
import { orderJudge } from './judges/order.ts';
import { queuesJudge } from './judges/queues.ts';
import { survivalsJudge } from './judges/survivals.ts';
import { windowsJudge } from './judges/windows.ts';
import { Ledger } from './ledger.ts';

export type CourtOptions = {
  readonly settings: BrokerSettings;
  readonly shutdownTimeoutMs: number;
  /** How late the broker may be with anything, for its commits and its busy event loop. */
  readonly slackMs: number;
  /** Compressing may hold the frames of a connection back, so that the moments of writing say little. */
  readonly framesMayLag: boolean;
};

export class Court {
  readonly ledger: Ledger;
  readonly complaints = new Set<string>();
  readonly #judges: readonly { readonly judge: Judge; readonly complain: Complain }[];

  constructor({ settings, shutdownTimeoutMs, slackMs, framesMayLag }: CourtOptions) {
    this.ledger = new Ledger(settings, shutdownTimeoutMs);
    const judges: Readonly<Record<string, Judge>> = {
      answers: answersJudge(framesMayLag),
      deliveries: deliveriesJudge(),
      attempts: attemptsJudge(slackMs),
      windows: windowsJudge(),
      order: orderJudge(),
      counters: countersJudge(),
      queues: queuesJudge(slackMs),
      deadLetters: deadLettersJudge(),
      fates: fatesJudge(),
      endings: endingsJudge(shutdownTimeoutMs, slackMs, framesMayLag),
      survivals: survivalsJudge(),
    };
    this.#judges = Object.entries(judges).map(([name, judge]) => ({
      judge,
      complain: (text) => void this.complaints.add(`${name}: ${text}`),
    }));
  }

  observe(observation: Observation): void {
    const fact = this.ledger.book(observation);
    if (fact === undefined) return;
    for (const { judge, complain } of this.#judges) judge(fact, this.ledger, complain);
    // The judges have looked back on the whole of it.
    if (fact.kind === 'lifeEnded') this.ledger.beginAnew();
  }
}
