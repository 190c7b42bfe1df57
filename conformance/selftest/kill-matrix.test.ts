// The kill matrix as a file and as a page: what is seen, what nobody sees, and what could not be tried are kept apart.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { checks } from '../src/checks/index.ts';
import type { Outcome } from '../src/outcome.ts';
import type { CheckResult } from '../src/result.ts';
import type { KillMatrix } from './kill-matrix.ts';
import {
  matrixFile,
  matrixJson,
  matrixPage,
  matrixText,
  mergedRow,
  pruned,
  retrials,
  rowOf,
  staleShare,
} from './kill-matrix.ts';
import { presentDigests } from './matrix-digests.ts';
import { mutants } from './mutants.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

function result(id: string, outcome: Outcome): CheckResult {
  const evidence = { frames: 0, messages: 0, responses: 0, assertions: 0 };
  const head = { id, title: '', level: 'MUST', profile: 'core', clauses: [], outcome, evidence } as const;
  const tail = { durationMs: 0, reproduce: '', repetition: 1, trace: [], brokerLog: [] };
  return { ...head, notes: [], warnings: [], ...tail };
}

const seen = rowOf(
  { id: 'm-seen', title: 'it hums' },
  [result('A-001a', 'fail'), result('A-001b', 'pass'), result('A-001c', 'error')],
  '1',
);
const matrix: KillMatrix = {
  schema: 2,
  checks: { 'A-001a': 'a', 'A-001b': 'a', 'A-001c': 'c' },
  mutants: [
    seen,
    rowOf({ id: 'm-unseen', title: 'it whistles' }, [result('A-001a', 'pass')], '2'),
    { mutant: 'm-broken', title: 'it is dead', kills: [], fault: 'it does not start', digest: '3' },
  ],
};

describe('rowOf', () => {
  it('tells kills from checks that showed nothing', () => {
    expect(seen).toEqual({
      mutant: 'm-seen',
      title: 'it hums',
      kills: ['A-001a'],
      unclear: ['A-001c'],
      digest: '1',
    });
  });
});

describe('matrixJson', () => {
  it('can be read back, and has one line for each fault', () => {
    const text = matrixJson(matrix);
    expect(JSON.parse(text)).toEqual(matrix);
    expect(text.split('\n').filter((line) => line.includes('"mutant"'))).toHaveLength(3);
  });
});

describe('matrixText', () => {
  it('names survivors, faults that were not tried, and checks that nothing kills', () => {
    const text = matrixText(matrix);
    expect(text).toContain('## Faults that no check sees\n\n- `m-unseen`: it whistles\n');
    expect(text).toContain('## Faults that could not be tried\n\n- `m-broken`: it does not start\n');
    expect(text).toContain('- `m-seen`: A-001c');
    expect(text).toContain('| A-001a | 1 | m-seen |');
    expect(text).toContain('| A-001b | 0 | nothing: it is not shown to be able to fail |');
  });
});

describe('pruned', () => {
  it('keeps what exists, under its present title', () => {
    const titles = new Map([['m-seen', 'it sings']]);
    const { checks: left, mutants: rows } = pruned(matrix, titles, new Set(['A-001a']));
    expect(left).toEqual({ 'A-001a': 'a' });
    expect(rows).toEqual([
      { mutant: 'm-seen', title: 'it sings', kills: ['A-001a'], unclear: [], digest: '1' },
    ]);
  });
});

describe('what is tried again', () => {
  const faults = new Map([
    ['m-seen', '1'],
    ['m-unseen', '2'],
    ['m-broken', '3'],
  ]);
  const checkDigests = new Map(Object.entries(matrix.checks));

  it('is nothing when nothing has changed', () => {
    expect(retrials(matrix, { faults, checks: checkDigests })).toEqual([]);
    expect(staleShare(matrix, { faults, checks: checkDigests })).toBe(0);
  });

  it('is every check on a fault that has changed or come', () => {
    const changed = new Map([...faults, ['m-seen', '9'], ['m-new', '4']]);
    const all = ['A-001a', 'A-001b', 'A-001c'];
    expect(retrials(matrix, { faults: changed, checks: checkDigests })).toEqual([
      { mutant: 'm-seen', checks: all },
      { mutant: 'm-new', checks: all },
    ]);
    expect(staleShare(matrix, { faults: changed, checks: checkDigests })).toBe(0.5);
  });

  it('is every fault with a check that has changed or come', () => {
    const changed = new Map([...checkDigests, ['A-001c', 'd'], ['A-001d', 'd']]);
    const due = retrials(matrix, { faults, checks: changed });
    expect(due).toHaveLength(3);
    expect(due[0]).toEqual({ mutant: 'm-seen', checks: ['A-001c', 'A-001d'] });
  });

  it('keeps what was found with the other checks', () => {
    const again = rowOf({ id: 'm-seen', title: 'it hums' }, [result('A-001c', 'fail')], '1');
    expect(mergedRow(seen, again, ['A-001c'])).toMatchObject({ kills: ['A-001a', 'A-001c'] });
    expect(mergedRow(seen, again, ['A-001c'])).not.toHaveProperty('unclear');
    expect(mergedRow(seen, { ...again, digest: '2' }, ['A-001c'])).toMatchObject({ kills: ['A-001c'] });
  });
});

describe('the digests of the sources', () => {
  it('are known for each fault and each check', () => {
    const ids = checks.map(({ id }) => id);
    const present = presentDigests(root, ids);
    expect([...present.faults.keys()]).toEqual(mutants.map(({ id }) => id));
    expect([...present.checks].filter(([, digest]) => digest === '').map(([id]) => id)).toEqual([]);
  });
});

describe('the committed matrix', () => {
  const text = readFileSync(join(root, matrixFile), 'utf8');
  const committed = JSON.parse(text) as KillMatrix;

  it('names only faults and checks that exist, after a change by `npm run refresh`, as does its page', async () => {
    const titles = new Map(mutants.map(({ id, title }) => [id, title]));
    const present = pruned(committed, titles, new Set(checks.map(({ id }) => id)));
    await expect(matrixJson(present)).toMatchFileSnapshot(join(root, matrixFile));
    await expect(matrixText(present)).toMatchFileSnapshot(join(root, matrixPage));
  });

  it('has a fault for each of its checks, and a check for each of its faults', () => {
    const killed = new Set(committed.mutants.flatMap(({ kills }) => kills));
    expect(Object.keys(committed.checks).filter((id) => !killed.has(id))).toEqual([]);
    expect(committed.mutants.filter(({ kills }) => kills.length === 0)).toEqual([]);
  });
});
