// The committed kept file fits what the gate measures, and a slowdown of a fifth is found in every row of it.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { judgeRows, type RowVerdict } from './judge.ts';
import type { KeptFile } from './kept.ts';
import { gateRows } from './rows.ts';

describe('the committed file', () => {
  const { rows } = JSON.parse(readFileSync(new URL('kept.json', import.meta.url), 'utf8')) as KeptFile;

  it('has every row that the gate measures, and no other', () => {
    expect(rows.map(({ name }) => name)).toEqual(gateRows.map(({ name }) => name));
  });

  it('finds a fifth in each of its rows, and lets them pass as they are', () => {
    const kindsAt = (change: number): readonly RowVerdict['kind'][] =>
      judgeRows(
        rows,
        rows.map(({ name, ratio }) => ({ name, messageCount: 9, ratio: ratio * (1 + change), change })),
      ).map(({ kind }) => kind);
    expect(kindsAt(0.2)).toEqual(rows.map(() => 'slower'));
    expect(kindsAt(0)).toEqual(rows.map(() => 'green'));
  });
});
