// Cases of the checkers' tests: what is broken, told as a story, and the complaint that it must lead to.

import { expect, it } from 'vitest';
import { Story } from './story.ts';

export type Case = readonly [
  broken: string,
  tell: (story: Story) => Story,
  complaint: RegExp,
  story?: () => Story,
];

/** Three connections and queue `q`. */
export const begin = (): Story => Story.begin(3);

/** The same with a dead letter queue. */
export const withDeadLetters = (): Story =>
  Story.begin(3, { enableDeadLetterQueue: true }).queue('q.dlq').batch();

/** A message in flight on connection 2. */
export const inFlight = (story: Story): Story => story.subscribe(2).accepted(1, 'm', 1).deliver(2, 'm', 1);

/** One test for each case. */
export function shows(cases: readonly Case[]): void {
  const named = cases.map(([broken, tell, complaint, story]) => ({ broken, tell, complaint, story }));
  it.each(named)('that $broken', ({ tell, complaint, story = begin }) => {
    expect(tell(story()).complaints).toContainEqual(expect.stringMatching(complaint));
  });
}
