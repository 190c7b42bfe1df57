// How a list of faults is put before a judge, and how it is told.
import { expect, it } from 'vitest';
import type { Fault } from '../faults/catalogue.ts';
import { findingText, judgeAll } from './judge.ts';

const crew = { least: 1, most: 1, idleShare: 0 };
const faults: readonly Fault[] = ['queue-seen', 'queue-unseen', 'queue-gone'].map((id) => ({
  id,
  title: `title of ${id}`,
  find: 'a',
  replace: 'b',
}));

async function judge({ id }: Fault) {
  if (id === 'queue-gone') throw new Error('queue-gone: it stands nowhere');
  return { seenBy: id === 'queue-seen' ? ['a', 'b', 'c', 'd', 'e', 'f'] : [], complaints: [] };
}

it('judges every fault, also behind one that cannot be planted', async () => {
  const told: string[] = [];
  const findings = await judgeAll({ judge, crew }, faults, (finding) => told.push(findingText(finding)));
  expect(findings.map(({ fault }) => fault)).toEqual(faults);
  expect(told).toEqual([
    'seen      queue-seen: a, b, c, d, and 2 more\n',
    'NOT SEEN  queue-unseen: title of queue-unseen\n',
    'FAIL      queue-gone: it stands nowhere\n',
  ]);
});

it('tells complaints with the fault that they are about', () => {
  const [fault] = faults;
  const text = fault && findingText({ fault, seenBy: ['A-001a'], complaints: ['A-002a fails too'] });
  expect(text).toBe('seen      queue-seen: A-001a\nFAIL      queue-seen: A-002a fails too\n');
});
