// Two runs compared, several merged, many side by side: what is worse is told, what is missing is never taken for right.
import { describe, expect, it } from 'vitest';
import { hostileText, interruptedLog, sampleLog, sampleResult } from '../testing/sample-log.ts';
import type { RunLog } from './event-log.ts';
import { wholeRunFault } from './gate-status.ts';
import { diffLines, diffMarkdown, diffOf, regressionsOf } from './log-diff.ts';
import { mergedLog } from './log-merge.ts';
import { matrixHtml, matrixMarkdown, matrixOf } from './matrix.ts';

const pass = (id: string): ReturnType<typeof sampleResult> => sampleResult(id, 'pass');
const fail = (id: string): ReturnType<typeof sampleResult> =>
  sampleResult(id, 'fail', { reason: 'it sings' });
const otherSuite = { suite: { protocol: 1 as const, checkCount: 3, digest: `sha256:${'1'.repeat(64)}` } };

describe('a comparison', () => {
  it('names what changed, for the worse and for the better, what is new and what is gone', () => {
    const before = sampleLog([
      pass('CONN-001a'),
      fail('CONN-002a'),
      pass('CONN-003a'),
      sampleResult('FRAME-001a', 'not applicable'),
    ]);
    const after = sampleLog([fail('CONN-001a'), pass('CONN-002a'), pass('CONN-004a'), pass('FRAME-001a')]);
    const diff = diffOf(before, after);
    expect(diff.changes.map(({ id, kind }) => [id, kind])).toEqual([
      ['CONN-001a', 'worse'],
      ['CONN-002a', 'better'],
      ['CONN-003a', 'gone'],
      ['CONN-004a', 'new'],
      ['FRAME-001a', 'other'],
    ]);
    expect(diffLines(diff)).toContain('worse   CONN-001a     pass -> fail  title of CONN-001a');
    expect(diffLines(diff).at(-1)).toBe('5 changes, 1 for the worse');
    expect(diffMarkdown(diff)).toContain('| **worse** | CONN-001a | pass | fail | title of CONN-001a |');
  });

  it.each(['warn', 'not shown', 'could not run', 'error', 'fail'] as const)(
    'calls %s after pass worse',
    (outcome) => {
      const diff = diffOf(sampleLog([pass('CONN-001a')]), sampleLog([sampleResult('CONN-001a', outcome)]));
      expect(regressionsOf(diff)).toHaveLength(1);
    },
  );

  it('counts a check with several repetitions by the worst of them', () => {
    const flipping = sampleLog([pass('CONN-001a'), { ...fail('CONN-001a'), repetition: 2 }]);
    expect(regressionsOf(diffOf(sampleLog([pass('CONN-001a')]), flipping))).toHaveLength(1);
  });

  it('is not complete when the second run leaves something open', () => {
    const before = sampleLog([pass('CONN-001a'), pass('CONN-002a')]);
    expect(diffOf(before, before).gaps).toEqual([]);
    expect(diffOf(before, interruptedLog()).gaps).toEqual([
      'the second run was interrupted',
      'the second run did not reach 1 check',
      '1 check of the first run is missing in the second',
    ]);
    const smaller = sampleLog([pass('CONN-001a')]);
    expect(diffOf(before, smaller).gaps).toEqual(['1 check of the first run is missing in the second']);
    const withdrawn = sampleLog([pass('CONN-001a')], { header: otherSuite });
    expect(diffOf(before, withdrawn).gaps).toEqual([]);
    const part = { ...otherSuite, partial: true };
    const selected = sampleLog([pass('CONN-001a')], { header: { ...part, shard: { index: 1, count: 2 } } });
    expect(diffOf(before, selected).gaps).toEqual(['1 check of the first run is missing in the second']);
    const samePart = sampleLog([pass('CONN-001a')], { header: part });
    expect(diffOf(sampleLog(before.results, { header: { partial: true } }), samePart).gaps).toEqual([]);
    expect(diffLines(diffOf(before, withdrawn))).toContain(
      'the two runs were judged by different versions of the suite',
    );
  });
});

/** Two halves of one run. */
function shards(): readonly { readonly path: string; readonly log: RunLog }[] {
  const plan = ['CONN-001a', 'CONN-002a'];
  return plan.map((id, index) => ({
    path: `shard-${index + 1}`,
    log: sampleLog([pass(id)], { header: { plan, assigned: [id], shard: { index: index + 1, count: 2 } } }),
  }));
}

const withHeader = (log: RunLog, more: Partial<RunLog['header']>): RunLog => ({
  ...log,
  header: { ...log.header, ...more },
});

describe('a merge', () => {
  it('gives the verdict of all when nothing of the plan is missing', () => {
    const merged = mergedLog(shards());
    expect(merged.finish?.verdict).toMatchObject({ status: 'conformant', gate: 'open', exitCode: 0 });
    expect(merged.results.map(({ id }) => id)).toEqual(['CONN-001a', 'CONN-002a']);
    expect(merged.header.shard).toBeUndefined();
    expect(merged.header.assigned).toBeUndefined();
  });

  it('is incomplete while a shard is missing', () => {
    const { finish } = mergedLog(shards().slice(0, 1));
    expect(finish?.verdict).toMatchObject({ status: 'undetermined', gate: 'closed', exitCode: 3 });
    expect(finish?.notes).toEqual(['no shard has CONN-002a']);
  });

  it('is incomplete while a repetition is missing', () => {
    const { options } = sampleLog([]).header;
    const twice = shards().map(({ path, log }) => ({
      path,
      log: withHeader(log, { options: { ...options, repeat: 2 } }),
    }));
    expect(mergedLog(twice).finish).toMatchObject({ verdict: { exitCode: 3 }, notReachedCount: 2 });
  });

  it('takes over what was wrong with a shard as a whole', () => {
    const [one, two] = shards();
    if (one === undefined || two?.log.finish === undefined) throw new Error('two shards');
    const died = { ...two.log, finish: { ...two.log.finish, targetFault: 'it died', notes: ['it hummed'] } };
    const { finish } = mergedLog([one, { path: 'b', log: died }]);
    expect(finish).toMatchObject({ verdict: { exitCode: 4, reason: 'it died' }, notes: ['it hummed'] });
    const { finish: _finish, ...unended } = two.log;
    expect(mergedLog([one, { path: 'b', log: unended }]).finish?.verdict).toMatchObject({
      exitCode: 5,
      reason: 'the run was interrupted: b has no end',
    });
  });

  it('says once what every shard says, and keeps the gate shut for a stale baseline', () => {
    const stale = shards().map(({ path, log }) => {
      if (log.finish === undefined) throw new Error('a whole shard');
      return {
        path,
        log: { ...log, finish: { ...log.finish, staleEntries: ['X-1 is gone'], notes: ['it hums'] } },
      };
    });
    const merged = mergedLog(stale);
    expect(merged.finish).toMatchObject({ staleEntries: ['X-1 is gone'], notes: ['it hums'] });
    expect(merged.finish?.verdict).toMatchObject({ status: 'conformant', gate: 'closed', exitCode: 1 });
    expect(wholeRunFault(merged)).toBe('the baseline is stale: X-1 is gone');
  });

  it('takes a check that is in two logs once, and refuses it when they contradict each other', () => {
    const [one, two] = shards();
    if (one === undefined || two === undefined) throw new Error('two shards');
    const overlap = (other: RunLog['results'][number]) => ({
      path: 'b',
      log: { ...two.log, results: [other, ...two.log.results] },
    });
    expect(mergedLog([one, overlap(pass('CONN-001a'))]).results).toHaveLength(2);
    expect(() => mergedLog([one, overlap(fail('CONN-001a'))])).toThrow(
      'the logs contradict each other: CONN-001a (repetition 1) is pass in shard-1, fail in b',
    );
  });

  it.each([
    ['target', { target: { name: 'other', lifecycle: 'attach', profiles: [], capabilities: [] } }],
    ['seed', { seed: 8 }],
    ['runner', { runner: { name: 'truemq-conformance', version: '9' } }],
    ['suite', otherSuite],
    ['plan', { planDigest: `sha256:${'2'.repeat(64)}` }],
    ['partial', { partial: true }],
    ['number of shards', { shard: { index: 2, count: 3 } }],
  ] as const)('refuses logs that differ in %s', (name, more) => {
    const [one, two] = shards();
    if (one === undefined || two === undefined) throw new Error('two shards');
    expect(() => mergedLog([one, { path: 'b', log: withHeader(two.log, more) }])).toThrow(
      `shard-1 and b are not parts of one run: they differ in ${name}`,
    );
  });

  it('refuses logs of two versions of a broker, and none at all', () => {
    const [one, two] = shards();
    if (one === undefined || two?.log.finish === undefined) throw new Error('two shards');
    const newer = { ...two.log, finish: { ...two.log.finish, target: { name: 'tiny', version: '2' } } };
    expect(() => mergedLog([one, { path: 'b', log: newer }])).toThrow('version 1 and 2');
    expect(() => mergedLog([])).toThrow('report merge needs the logs');
  });
});

describe('a matrix', () => {
  const logs = [
    sampleLog([pass('CONN-001a'), fail('FRAME-001a'), sampleResult('FRAME-002a', 'not applicable')]),
    sampleLog([pass('FRAME-001a'), { ...fail('FRAME-001a'), repetition: 2 }], {
      header: { target: { name: `b ${hostileText}`, lifecycle: 'attach', profiles: [], capabilities: [] } },
      finish: { target: { name: `b ${hostileText}` } },
    }),
  ];

  it('has a row for each area and check, and leaves empty what was not judged', () => {
    const rows = matrixMarkdown(matrixOf(logs)).split('\n');
    expect(rows).toContain('| **CONN** |  | **1/1** |  |');
    expect(rows).toContain('| **FRAME** |  | **0/1** | **1/2** |');
    expect(rows).toContain('| CONN-001a | title of CONN-001a | pass |  |');
    expect(rows).toContain('| FRAME-001a | title of FRAME-001a | fail | pass and fail |');
    expect(rows).toContain('| verdict |  | not conformant | not conformant |');
  });

  it('is a page that lets nothing out', () => {
    const page = matrixHtml(matrixOf(logs));
    expect(page).toContain('<tr id="FRAME-001a"><th scope="row"><code>FRAME-001a</code>');
    expect(page).not.toContain('<img');
    expect(page).not.toMatch(/[^\P{C}\n]/u);
  });
});
