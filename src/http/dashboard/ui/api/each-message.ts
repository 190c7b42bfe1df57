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

/** `2 of 3 messages requeued. Not the other: The message is in flight to a subscriber.` `verb`: what was done, as `requeued`. */
export function eachSentence(count: number, { doneCount, problems }: EachResult, verb: string): string {
  const details = [...new Set(problems.map(({ detail }) => detail))].join(' ');
  const messages = countOf(count, 'message');
  if (doneCount === count) return `${messages} ${verb}.`;
  if (count === 1) return `The message was not ${verb}: ${details}`;
  if (doneCount === 0) return `None of ${messages} was ${verb}: ${details}`;
  const others = count - doneCount === 1 ? 'other' : 'others';
  return `${formatCount(doneCount)} of ${messages} ${verb}. Not the ${others}: ${details}`;
}
