// Two results side by side, and the tables for people: ratios where both name the same first target, words that fit the figure.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import schema from '../../schemas/bench.schema.json' with { type: 'json' };
import type { BenchResult } from './bench-result.ts';
import { machineFacts, ResultCollector } from './bench-result.ts';
import { resultLines } from './bench-table.ts';
import { compareResults, comparisonLines, isComplete } from './comparison.ts';
import type { Reading } from './metrics.ts';

type Rounds = Readonly<Record<string, readonly Reading[]>>;

/** A result with one load, the readings of each target round by round. */
function result(targets: Rounds, load = '1024 B'): BenchResult {
  const book = new ResultCollector();
  for (const [target, rounds] of Object.entries(targets)) {
    for (const [round, reading] of rounds.entries()) {
      book.add({ job: 'throughput', load, target }, round, reading);
    }
  }
  return {
    schema: 1,
    runner: { name: 'truemq-conformance', version: '0.0.0' },
    at: '2026-01-01T00:00:00.000Z',
    machine: { ...machineFacts(), loadAverage: 0 },
    settings: {},
    targets: Object.keys(targets).map((name) => ({ name })),
    rows: book.rows,
  };
}

const rates = (...values: readonly number[]): readonly Reading[] =>
  values.map((messagesPerSecond) => ({ messagesPerSecond }));

describe('a comparison', () => {
  it('compares figures where there is one target', () => {
    const before = result({ a: rates(100, 101, 102) });
    const { figures } = compareResults(before, result({ a: rates(150, 151, 152) }));
    expect(figures).toHaveLength(1);
    expect(figures[0]).toMatchObject({ by: 'value', difference: { verdict: 'better' } });
  });

  it('compares ratios to the first target, which a slow hour leaves alone', () => {
    const before = result({ ceiling: rates(400, 410, 390), a: rates(200, 205, 195) });
    const after = result({ ceiling: rates(200, 205, 195), a: rates(100, 102.5, 97.5) });
    const { figures } = compareResults(before, after);
    const verdicts = figures.map(({ target, by, difference }) => [target, by, difference.verdict]);
    expect(verdicts).toEqual([
      ['ceiling', 'value', 'worse'],
      ['a', 'ratio', 'within noise'],
    ]);
  });

  it('says faster and slower of times, smaller and larger of memory', () => {
    const rounds = (p99Us: number, rssMiB: number): readonly Reading[] =>
      [0, 0.1, 0.2].map((more) => ({ p99Us: p99Us + more, rssMiB: rssMiB + more }));
    const comparison = compareResults(result({ a: rounds(100, 100) }), result({ a: rounds(150, 50) }));
    const text = comparisonLines(comparison).join('\n');
    expect(text).toMatch(/p99 µs .*\+50\.\d%.* slower/);
    expect(text).toMatch(/RSS MiB .*-50\.\d%.* smaller/);
    expect(text).toContain('1 better, 1 worse, 0 within noise');
  });

  it('names rows that only one side has; a row that is new is no gap', () => {
    const [one, both] = [result({ a: rates(1) }), result({ a: rates(1), b: rates(2) })];
    expect(compareResults(one, both)).toMatchObject({
      gaps: [],
      notes: ['only in the second file: throughput 1024 B, b'],
    });
    const comparison = compareResults(both, one);
    expect(comparison.gaps).toEqual(['only in the first file: throughput 1024 B, b']);
    expect(comparison.figures[0]?.difference.verdict).toBe('too few rounds');
    expect(comparisonLines(comparison)).toContain('only in the first file: throughput 1024 B, b');
  });

  it('names what failed, which it must not pass over in silence', () => {
    const before = result({ a: rates(100, 101, 102) });
    const failed = {
      ...before,
      rows: before.rows.map((row) => ({ ...row, values: {}, faults: ['round 1: lost'] })),
    };
    expect(compareResults(before, failed)).toMatchObject({
      figures: [],
      gaps: ['failed in the second file: throughput 1024 B, a, round 1: lost'],
    });
    expect(compareResults(failed, before).notes).toEqual([
      'failed in the first file: throughput 1024 B, a, round 1: lost',
    ]);
  });

  it('names a figure that one side lacks, itself or the one that it is divided by', () => {
    const [full, bare] = [result({ a: [{ rssMiB: 5, messagesPerSecond: 9 }] }), result({ a: rates(9) })];
    expect(compareResults(full, bare).gaps).toEqual([
      'only in the first file: throughput 1024 B, a, RSS MiB',
    ]);
    expect(compareResults(bare, full).notes).toEqual([
      'only in the second file: throughput 1024 B, a, RSS MiB',
    ]);
    const [whole, halved] = [
      result({ a: rates(9), b: rates(9) }),
      result({ a: [{ p99Us: 1 }], b: rates(9) }),
    ];
    expect(compareResults(whole, halved).gaps).toEqual([
      'only in the first file: throughput 1024 B, a, msg/s',
      'no ratio to a: throughput 1024 B, b, msg/s',
    ]);
  });

  it('is complete only if every figure of the first file has one to compare it with, and enough rounds', () => {
    const three = result({ a: rates(1, 2, 3) });
    expect(isComplete(compareResults(three, three))).toBe(true);
    expect(isComplete(compareResults(three, result({ a: rates(1, 2) })))).toBe(false);
    expect(isComplete(compareResults(result({ a: rates(1, 2, 3), b: rates(1, 2, 3) }), three))).toBe(false);
  });

  it('says which conditions were others', () => {
    const before = result({ a: rates(1) });
    const after = {
      ...before,
      settings: { storage: 'durable', roundCount: 5 },
      machine: { ...before.machine, cores: 99, loadAverage: 7 },
    };
    expect(compareResults(before, after).notes).toEqual([
      `measured under other conditions: cores is ${before.machine.cores}, then 99`,
      'measured under other conditions: storage is not set, then durable',
    ]);
  });
});

describe('a table', () => {
  it('shows median, noise, and the ratio to the first target', () => {
    const lines = resultLines(result({ ceiling: rates(1000, 2000, 3000), a: rates(500, 1000, 1500) }));
    expect(lines.find((line) => line.includes('ceiling'))).toContain('2,000 ±50%');
    expect(lines.find((line) => line.includes('| a '))).toContain('1,000 ±50% (0.50)');
  });

  it('shows the ratio to a smaller load where a row names one, and what failed', () => {
    const book = new ResultCollector();
    book.add({ job: 'depth', load: 'few', target: 'a' }, 0, { serverCpuUs: 2 });
    book.add({ job: 'depth', load: 'many', target: 'a', baseLoad: 'few' }, 0, { serverCpuUs: 3 });
    book.fail({ job: 'depth', load: 'many', target: 'a', baseLoad: 'few' }, 1, 'a message was lost');
    const lines = resultLines({ ...result({ a: [] }), targets: [{ name: 'a' }], rows: book.rows });
    expect(lines.join('\n')).toContain('3.00 (1.50)');
    expect(lines.at(-1)).toBe('failed: many, a, round 2: a message was lost');
    expect(book.hasFaults).toBe(true);
  });
});

describe('a file of results', () => {
  it('is as the published schema says', () => {
    const book = new ResultCollector();
    book.add({ job: 'throughput', load: '1 B', target: 'a' }, 1, { messagesPerSecond: 5 });
    expect(book.rows[0]?.values).toEqual({ messagesPerSecond: [null, 5] });
    const validate = new Ajv2020().compile(schema);
    const file = { ...result({ a: rates(1, 2) }), rows: book.rows, commit: 'abc' };
    expect(validate(JSON.parse(JSON.stringify(file))), JSON.stringify(validate.errors)).toBe(true);
    expect(validate({ ...file, rows: [{ job: 'x' }] })).toBe(false);
  });
});
