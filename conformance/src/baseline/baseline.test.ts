// The baseline: what it hides from the gate, what it never hides, how it rots, and what is wrong with a file, by line.
import { describe, expect, it } from 'vitest';
import { blamed } from '../engine/broker-death.ts';
import type { Outcome } from '../outcome.ts';
import type { CheckResult } from '../result.ts';
import { tinyCatalogue, tinyCheck } from '../testing/tiny-target.ts';
import { UsageError } from '../usage-error.ts';
import { entriesToAdd, staleEntries, withBaseline } from './baseline.ts';
import type { Baseline } from './baseline-file.ts';
import { parseBaseline } from './baseline-file.ts';

const now = new Date('2026-03-01T12:00:00Z');
const catalogue = tinyCatalogue([
  tinyCheck('CONN-001a', async () => {}),
  tinyCheck('CONN-001b', async () => {}),
]);
const rules = { strict: false };

function baselineOf(...lines: readonly string[]): Baseline {
  return parseBaseline(lines.join('\n'), 'known.yaml', now);
}

function entry(more: readonly string[] = [], expectation = 'fail'): Baseline {
  return baselineOf('- id: CONN-001a', `  expect: ${expectation}`, '  reason: under repair', ...more);
}

function result(outcome: Outcome, id = 'CONN-001a'): CheckResult {
  const evidence = { frames: 0, messages: 0, responses: 0, assertions: 0 };
  const head = { id, title: '', level: 'MUST', profile: 'core', clauses: [], outcome, evidence } as const;
  const warnings = outcome === 'warn' ? [{ clause: 'CONN-002', text: 'it hums' }] : [];
  const tail = { durationMs: 0, reproduce: '', repetition: 1, trace: [], brokerLog: [] };
  return { ...head, notes: [], warnings, ...tail };
}

function endOfBroker(id?: string): CheckResult {
  return blamed(result('pass', id), { code: 3, signal: null });
}

describe('parseBaseline', () => {
  it('reads entries with their lines', () => {
    const { entries } = entry(['  issue: https://example.org/1', '  until: 2026-03-01']);
    expect(entries).toEqual([
      {
        id: 'CONN-001a',
        expect: 'fail',
        reason: 'under repair',
        issue: 'https://example.org/1',
        until: '2026-03-01',
        line: 1,
        expired: false,
      },
    ]);
  });

  it('reads a file with a byte order mark', () => {
    expect(baselineOf('\ufeff- id: CONN-001a', '  expect: fail', '  reason: r').entries).toHaveLength(1);
  });

  it.each(['', '# nothing yet', '[]'])('takes a file without entries: "%s"', (text) => {
    expect(baselineOf(text).entries).toEqual([]);
  });

  const id = '- id: CONN-001a';
  const flaky = [id, '  expect: flaky', '  reason: r'];
  it.each<[string, readonly string[], string]>([
    ['no list', ['id: CONN-001a'], 'is not valid:\n  line 1: a baseline is a list of entries'],
    ['an alias of nothing', [id, '  expect: fail', '  reason: r', '- *x'], 'line 4: Unresolved alias'],
    ['broken YAML', ['- id: [', '- b: 1'], 'line 2: '],
    ['no reason', [id, '  expect: fail'], 'line 1: reason is missing'],
    ['an unknown key', [id, '  expect: fail', '  reason: r', '  untill: x'], 'line 4: untill is not known'],
    ['an unknown word', [id, '  expect: pass', '  reason: r'], 'line 2: expect: "pass" came'],
    ['an id of another form', ['- id: conn-1', '  expect: fail', '  reason: r'], 'line 1: id: "conn-1" came'],
    ['flaky without a day', flaky, 'line 1: expect "flaky" needs until, at most 90 days ahead: 2026-05-30'],
    [
      'flaky for too long',
      [...flaky, '  until: 2026-05-31'],
      'line 4: until: "flaky" holds for 90 days at most',
    ],
    ['a date that does not exist', [...flaky, '  until: 2026-02-30'], '2026-02-30 is not a valid date'],
    ['an entry that is no mapping', ['- CONN-001a'], 'line 1: '],
    [
      'an id twice',
      [id, '  expect: fail', '  reason: r', id, '  expect: fail', '  reason: s'],
      'line 4: CONN-001a is there twice, first on line 1',
    ],
  ])('refuses %s', (_name, lines, text) => {
    expect(() => baselineOf(...lines)).toThrow(UsageError);
    expect(() => baselineOf(...lines)).toThrow(text);
  });

  it('takes flaky up to 90 days ahead', () => {
    expect(entry(['  until: 2026-05-30'], 'flaky').entries[0]?.expired).toBe(false);
  });
});

describe('withBaseline', () => {
  it.each<[string, Baseline, Outcome, boolean, boolean]>([
    ['a failure', entry(), 'fail', false, true],
    ['a failure called flaky', entry(['  until: 2026-04-01'], 'flaky'), 'fail', false, true],
    ['a failure, on the last day', entry(['  until: 2026-03-01']), 'fail', false, true],
    ['no failure, when the day is over', entry(['  until: 2026-02-28']), 'fail', false, false],
    ['a warning with --strict', entry(), 'warn', true, true],
    ['no warning without', entry(), 'warn', false, false],
    ['no error', entry(), 'error', false, false],
    ['nothing that could not run', entry(), 'could not run', false, false],
    ['no pass', entry(), 'pass', false, false],
  ])('expects %s', (_name, baseline, outcome, strict, isExpected) => {
    const marked = withBaseline(result(outcome), baseline, { strict });
    expect(marked.baseline !== undefined).toBe(isExpected);
    expect(withBaseline(result(outcome, 'CONN-001b'), baseline, { strict }).baseline).toBeUndefined();
  });

  it('expects the end of the broker only where the entry says so', () => {
    const until = ['  until: 2026-04-01'];
    for (const baseline of [entry(), entry(until, 'flaky')])
      expect(withBaseline(endOfBroker(), baseline, rules).baseline).toBeUndefined();
    expect(withBaseline(endOfBroker(), entry([], 'crash'), rules).baseline).toBeDefined();
  });
});

describe('staleEntries', () => {
  const until = '  until: 2026-04-01';
  it.each<[string, Baseline, readonly CheckResult[], string | undefined]>([
    ['a failure that came', entry(), [result('fail')], undefined],
    [
      'a pass',
      entry(),
      [result('pass')],
      'known.yaml line 1: CONN-001a was expected to fail and passes: remove',
    ],
    ['a warning in the place of a failure', entry(), [result('warn')], 'remove the entry'],
    [
      'one pass of two',
      entry(),
      [result('pass'), result('fail')],
      'passed 1 of 2 times: say "expect: flaky"',
    ],
    [
      'the end of the broker',
      entry(),
      [endOfBroker()],
      'and ended the broker: repair that, or say "expect: crash"',
    ],
    ['the end of the broker by a flaky one', entry([until], 'flaky'), [endOfBroker()], 'ended the broker'],
    ['the end of the broker that was expected', entry([], 'crash'), [endOfBroker()], undefined],
    ['a failure in its place', entry([], 'crash'), [result('fail')], 'only fails: say "expect: fail"'],
    ['a pass in its place', entry([], 'crash'), [result('pass')], 'remove the entry'],
    ['a flaky one that passed', entry([until], 'flaky'), [result('pass')], undefined],
    ['a flaky one that failed', entry([until], 'flaky'), [result('fail')], undefined],
    ['a day that is over', entry(['  until: 2026-02-28']), [result('fail')], 'ended on 2026-02-28'],
    [
      'a day that is over, and a pass',
      entry(['  until: 2026-02-28']),
      [result('pass')],
      'ended on 2026-02-28: the check passes, so remove it',
    ],
    ['a check that this run did not select', entry(['  until: 2026-02-28']), [], undefined],
    ['a check that could not run', entry(), [result('could not run')], undefined],
    [
      'an unknown id',
      baselineOf('- id: CONN-777z', '  expect: fail', '  reason: r'),
      [],
      'there is no check CONN-777z: remove the entry',
    ],
  ])('%s', (_name, baseline, results, text) => {
    const stale = staleEntries(baseline, results, { catalogue, strict: false });
    if (text === undefined) expect(stale).toEqual([]);
    else expect(stale.join('\n')).toContain(text);
  });

  it('a warning with --strict in the place of the end of the broker', () => {
    const stale = staleEntries(entry([], 'crash'), [result('warn')], { catalogue, strict: true });
    expect(stale.join('\n')).toContain('only fails: say "expect: fail"');
  });
});

describe('entriesToAdd', () => {
  it('are a baseline that expects what nobody expected, each check once', () => {
    const results = [
      result('fail', 'CONN-001b'),
      result('fail', 'CONN-001b'),
      result('fail'),
      result('pass'),
    ];
    const lines = entriesToAdd(results, entry(), rules);
    const added = baselineOf(...lines);
    expect(added.entries.map(({ id, expect: kind }) => [id, kind])).toEqual([['CONN-001b', 'fail']]);
  });

  it('say that the broker ended', () => {
    const added = baselineOf(...entriesToAdd([endOfBroker('CONN-001b')], entry(), rules));
    expect(added.entries.map(({ expect: kind }) => kind)).toEqual(['crash']);
  });

  it('name warnings only with --strict', () => {
    expect(entriesToAdd([result('warn', 'CONN-001b')], entry(), rules)).toEqual([]);
    expect(entriesToAdd([result('warn', 'CONN-001b')], entry(), { strict: true }).join('\n')).toContain(
      'it hums',
    );
  });
});
