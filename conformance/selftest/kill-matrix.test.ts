// The kill matrix as a file and as a page: what is seen, what nobody sees, and what could not be tried are kept apart.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Check } from '../src/check.ts';
import { checks } from '../src/checks/index.ts';
import type { Outcome } from '../src/outcome.ts';
import type { CheckResult } from '../src/result.ts';
import { checksOn } from './area-checks.ts';
import type { KillMatrix } from './kill-matrix.ts';
import {
  ageFault,
  matrixFile,
  matrixJson,
  matrixPage,
  matrixText,
  pruned,
  retrials,
  rowOf,
  staleShare,
  unproved,
} from './kill-matrix.ts';
import { presentSources } from './matrix-digests.ts';
import { mutants } from './mutants.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

function result(id: string, outcome: Outcome): CheckResult {
  const evidence = { frames: 0, messages: 0, responses: 0, assertions: 0 };
  const head = { id, title: '', level: 'MUST', profile: 'core', clauses: [], outcome, evidence } as const;
  const tail = { durationMs: 0, reproduce: '', repetition: 1, trace: [], brokerLog: [] };
  return { ...head, notes: [], warnings: [], ...tail };
}

const seen = rowOf(
  { id: 'm-seen', title: 'it hums', named: ['A-001'] },
  [result('A-001a', 'fail'), result('A-001b', 'pass'), result('A-001c', 'error')],
  '1',
);
const matrix: KillMatrix = {
  schema: 3,
  checks: { 'A-001a': 'a', 'A-001b': 'a', 'A-001c': 'c' },
  mutants: [
    seen,
    rowOf({ id: 'm-unseen', title: 'it whistles', named: [] }, [result('A-001a', 'pass')], '2'),
    {
      mutant: 'm-broken',
      title: 'it is dead',
      kills: [],
      named: [],
      fault: 'it does not start',
      digest: '3',
    },
  ],
};

describe('rowOf', () => {
  it('tells kills from checks that showed nothing', () => {
    expect(seen).toEqual({
      mutant: 'm-seen',
      title: 'it hums',
      kills: ['A-001a'],
      unclear: ['A-001c'],
      named: ['A-001'],
      digest: '1',
    });
  });

  it('leaves out what is watched in every check, where the fault does not name the check for it', () => {
    const fault = { id: 'm', title: 'it hums', named: [], watched: ['A-001b'] };
    const results = ['A-001a', 'A-001b'].map((id) => ({ ...result(id, 'fail'), watched: true as const }));
    expect(rowOf(fault, results, '1').kills).toEqual(['A-001b']);
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
      { mutant: 'm-seen', title: 'it sings', kills: ['A-001a'], unclear: [], named: ['A-001'], digest: '1' },
    ]);
  });
});

describe('what is tried again', () => {
  const all = ['A-001a', 'A-001b', 'A-001c'];
  const faults = new Map([
    ['m-seen', { digest: '1', checks: all }],
    ['m-unseen', { digest: '2', checks: ['A-001a'] }],
  ]);
  const checkDigests = new Map(Object.entries(matrix.checks));

  it('is nothing when nothing has changed', () => {
    expect(retrials(matrix, { faults, checks: checkDigests })).toEqual([]);
    expect(staleShare(matrix, { faults, checks: checkDigests })).toBe(0);
    expect(ageFault(matrix, { faults, checks: checkDigests })).toBeUndefined();
  });

  it('is every check on a fault that has changed or come', () => {
    const changed = new Map([
      ...faults,
      ['m-seen', { digest: '9', checks: all }],
      ['m-new', { digest: '4', checks: all }],
    ]);
    expect(retrials(matrix, { faults: changed, checks: checkDigests })).toEqual([
      { mutant: 'm-seen', checks: all },
      { mutant: 'm-new', checks: all },
    ]);
    expect(staleShare(matrix, { faults: changed, checks: checkDigests })).toBeCloseTo(6 / 7);
    expect(ageFault(matrix, { faults: changed, checks: checkDigests })).toContain('85.7 percent');
  });

  it('is every check on a fault that could not be tried', () => {
    const broken = new Map([['m-broken', { digest: '3', checks: all }]]);
    expect(retrials(matrix, { faults: broken, checks: checkDigests })).toEqual([
      { mutant: 'm-broken', checks: all },
    ]);
  });

  it('is a check that has changed or come, on the faults that it is tried on', () => {
    const changed = new Map([...checkDigests, ['A-001c', 'd'], ['A-001d', 'd']]);
    const more = new Map([...faults, ['m-seen', { digest: '1', checks: [...all, 'A-001d'] }]]);
    expect(retrials(matrix, { faults: more, checks: changed })).toEqual([
      { mutant: 'm-seen', checks: ['A-001c', 'A-001d'] },
    ]);
  });

  it('is by its own checks what has changed or come, and what must fail and has changed', () => {
    const some = [
      { id: 'm-seen', mustFail: ['A-001a'] },
      { id: 'm-unseen', mustFail: ['A-001a'] },
      { id: 'm-new', mustFail: ['A-001b'] },
    ];
    const present = {
      faults: new Map([...faults, ['m-new', { digest: '4', checks: all }]]),
      checks: checkDigests,
    };
    expect([...unproved(some, matrix, present)]).toEqual(['m-new']);
    const changed = { ...present, checks: new Map([...checkDigests, ['A-001a', 'd']]) };
    expect([...unproved(some, matrix, changed)]).toEqual(['m-seen', 'm-unseen', 'm-new']);
    const other = { ...present, checks: new Map([...checkDigests, ['A-001c', 'd']]) };
    expect([...unproved(some, matrix, other)]).toEqual(['m-new']);
  });
});

describe('what is tried on a fault', () => {
  const [any] = checks;
  const check = (id: string, more: Partial<Check>): Check => ({
    id,
    title: '',
    clauses: ['A-001'],
    profile: 'core',
    evidence: {},
    run: any?.run ?? (async () => {}),
    ...more,
  });
  const some = [
    check('A-001a', {}),
    check('A-002a', { waits: true }),
    check('A-003a', { broad: true }),
    check('A-004a', { isolation: 'restart' }),
    check('B-001a', {}),
  ];

  it('are the checks of its areas but for random ones and those that restart, and what must fail', () => {
    expect(checksOn({ mustFail: ['A-001a'] }, some)).toEqual(['A-001a', 'A-002a']);
    expect(checksOn({ mustFail: ['A-003a', 'A-004a'] }, some)).toEqual([
      'A-001a',
      'A-002a',
      'A-003a',
      'A-004a',
    ]);
    expect(checksOn({ mustFail: ['B-001a'] }, some)).toEqual(['B-001a']);
  });
});

describe('the present sources', () => {
  it('are known for each fault and each check', () => {
    const present = presentSources(root, checks);
    expect([...present.faults.keys()]).toEqual(mutants.map(({ id }) => id));
    expect([...present.checks.keys()]).toEqual(checks.map(({ id }) => id).sort());
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
