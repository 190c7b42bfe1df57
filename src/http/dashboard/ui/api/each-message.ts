// One action on several messages, one after the other, and its result in a sentence. Stops when the broker does not answer, since the rest would not
// be answered either.

import { countOf, formatCount } from '../words/format.ts';
import type { Answer, Problem } from './api.ts';

export type EachResult = {
  readonly doneCount: number;
  readonly problems: readonly Problem[];
};

export async function forEachMessage<One>(
  messages: readonly One[],
  act: (message: One) => Promise<Answer<unknown>>,
): Promise<EachResult> {
  const problems: Problem[] = [];
  let doneCount = 0;
  for (const message of messages) {
    const answer = await act(message);
    if (answer.isOk) doneCount += 1;
    else problems.push(answer.problem);
    if (!answer.isOk && answer.problem.status === 0) break;
  }
  return { doneCount, problems };
}

/** `2 of 3 messages requeued. 1 was not: The message is in flight to a subscriber.` `verb`: what was done, as `requeued`. */
export function eachSentence(count: number, { doneCount, problems }: EachResult, verb: string): string {
  const done =
    doneCount === count
      ? countOf(count, 'message')
      : `${formatCount(doneCount)} of ${countOf(count, 'message')}`;
  const details = [...new Set(problems.map(({ detail }) => detail))].join(' ');
  return details === '' ? `${done} ${verb}.` : `${done} ${verb}. Not the others: ${details}`;
}
