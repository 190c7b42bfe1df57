// The history that a check can ask for: recorded from its connections, judged by the accountant on request.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { History, TargetFacts } from '../check.ts';
import type { Evidence } from '../evidence.ts';
import { ExpectationFailure } from '../expectation.ts';
import type { Account } from '../history/account.ts';
import { accountCountsText, accountLines } from '../history/account.ts';
import { account, accountInTurns } from '../history/accountant.ts';
import type { HistoryRecorder } from '../history/history-recorder.ts';
import type { HistoryRules } from '../history/operation.ts';

export type HistoryHolder = {
  readonly history: HistoryRecorder;
  readonly evidence: Evidence;
  readonly notes: string[];
};

export function historyOf(holder: HistoryHolder, { ackTimeoutMs }: TargetFacts): History {
  const { history, evidence, notes } = holder;
  history.begin();
  const withDefaults = (rules: Partial<HistoryRules>): HistoryRules => ({
    queues: {},
    drained: [],
    ackTimeoutMs,
    durable: false,
    ...rules,
  });
  const accepted = (result: Account): Account => {
    for (let count = 0; count < result.counts.attempted; count += 1) evidence.addAssertion();
    const [first] = result.findings;
    notes.push(`the account: ${accountCountsText(result.counts)}`);
    if (first === undefined) return result;
    throw new ExpectationFailure('every message of the history is accounted for', {
      expected: 'no message lost, duplicated, unexpected or in the wrong order',
      actual: accountLines(result, history.operations).join('\n'),
      clause: first.clause,
    });
  };
  return {
    get operations() {
      return history.operations;
    },
    judge: (rules) => accepted(account(history.operations, withDefaults(rules))),
    judgeInSteps: async (rules) =>
      accepted(await accountInTurns([...history.operations], withDefaults(rules), nextTurn)),
  };
}
