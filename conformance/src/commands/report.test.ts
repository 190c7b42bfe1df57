// `report`: the same reports later, and its exit codes: what it shows decides them, never that it could show it.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { RunLog } from '../report/event-log.ts';
import { reportJson } from '../report/json.ts';
import { parseLog } from '../report/log-reader.ts';
import { logText } from '../report/log-writer.ts';
import { reporterNames } from '../report/reporters.ts';
import { colourfulLog, interruptedLog, sampleLog, sampleResult } from '../testing/sample-log.ts';
import { tinyCatalogue } from '../testing/tiny-target.ts';
import { reportCommand } from './report.ts';

const folder = mkdtempSync(join(tmpdir(), 'truemq-conformance-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, log: RunLog): string {
  const path = join(folder, name);
  writeFileSync(path, name.endsWith('.json') ? reportJson(log) : logText(log));
  return path;
}

function report(...args: readonly string[]): { exitCode: number; out: string; err: string } {
  const lines = { out: [] as string[], err: [] as string[] };
  const terminal = {
    out: (line: string) => lines.out.push(line),
    err: (line: string) => lines.err.push(line),
    color: false,
  };
  const exitCode = reportCommand(args, { catalogue: tinyCatalogue([]), golden: [] }, terminal);
  return { exitCode, out: lines.out.join('\n'), err: lines.err.join('\n') };
}

const good = file('good.ndjson', sampleLog([sampleResult('CONN-001a', 'pass')]));
const bad = file('bad.ndjson', sampleLog([sampleResult('CONN-001a', 'fail', { reason: 'it sings' })]));
const asJson = file('good.json', sampleLog([sampleResult('CONN-001a', 'pass')]));
const cut = file('cut.ndjson', interruptedLog());

describe('report LOG', () => {
  it('prints the run again and ends as it ended', () => {
    expect(report(good)).toMatchObject({ exitCode: 0 });
    expect(report(bad)).toMatchObject({ exitCode: 1 });
    expect(report(asJson)).toMatchObject({ exitCode: 0 });
    expect(report(cut)).toMatchObject({ exitCode: 5 });
    expect(report(bad).out).toContain('tiny is NOT CONFORMANT.');
  });

  it.each(reporterNames)('writes %s, the same as to standard output, and nothing else', (name) => {
    const path = join(folder, 'made', `report.${name}`);
    expect(report(bad, '--reporter', `${name}=${path}`)).toEqual({ exitCode: 1, out: '', err: '' });
    const printed = report(bad, '--reporter', `${name}=-`);
    expect(`${printed.out}\n`).toBe(readFileSync(path, 'utf8'));
    expect(printed).toMatchObject({ exitCode: 1, err: '' });
  });

  it('refuses a report that would overwrite the log', () => {
    const text = readFileSync(good, 'utf8');
    expect(() => report(good, '--reporter', `html=${good}`)).toThrow(
      `html=${good} would overwrite a log that is read`,
    );
    expect(() => report('merge', good, '--reporter', `tap=${good}`)).toThrow('would overwrite a log');
    expect(readFileSync(good, 'utf8')).toBe(text);
  });

  it('refuses a folder in which it would overwrite the log', () => {
    const out = mkdtempSync(join(folder, 'out-'));
    for (const name of ['events.ndjson', 'report.json']) {
      const path = join(out, name);
      writeFileSync(path, readFileSync(name === 'report.json' ? asJson : good));
      const message = `--out ${out} would overwrite a log that is read (${path}); choose another path`;
      expect(() => report('merge', path, '--out', out)).toThrow(message);
      if (name === 'report.json') expect(() => report(path, '--out', out)).toThrow(message);
    }
    // It makes the reports beside a log, and leaves that alone.
    rmSync(join(out, 'report.json'));
    expect(report(join(out, 'events.ndjson'), '--out', out).exitCode).toBe(0);
    expect(readFileSync(join(out, 'events.ndjson'), 'utf8')).toBe(readFileSync(good, 'utf8'));
  });

  it('prints the run beside other reports where that is asked for', () => {
    const page = `html=${join(folder, 'page.html')}`;
    expect(report(good, '--reporter', 'console', '--reporter', page).out).toContain('The gate is open');
    const both = report(good, '--reporter', 'console', '--reporter', 'tap=-');
    expect(both.out).toMatch(/^TAP version 14/);
    expect(both.err).toContain('The gate is open');
  });

  it('fills a folder', () => {
    const out = join(folder, 'filled');
    expect(report(file('colourful.ndjson', colourfulLog()), '--out', out)).toMatchObject({
      out: '',
      err: '',
    });
    for (const name of ['report.json', 'report.html', 'junit.xml', 'summary.md', 'verdict.txt'])
      expect(existsSync(join(out, name)), name).toBe(true);
    const trace = JSON.parse(readFileSync(join(out, 'traces', 'CONN-001a.json'), 'utf8')) as unknown;
    expect(trace).toMatchObject({ check: 'CONN-001a', seed: 7, complete: true });
    expect(readFileSync(join(out, 'logs', 'CONN-001a.log'), 'utf8')).toContain('second line');
    expect(existsSync(join(out, 'traces', 'CONN-002a.json'))).toBe(false);
  });

  it('ends with 5 when a report cannot be written', () => {
    const { exitCode, err } = report(good, '--reporter', `html=${join(good, 'a.html')}`);
    expect(exitCode).toBe(5);
    expect(err).toContain('a.html could not be written');
  });

  it.each([
    [[], 'report needs an event log'],
    [[good, bad], 'report takes one event log, 2 came'],
    [[join(folder, 'none.ndjson')], 'cannot be read'],
    [['diff', good], 'report diff takes two logs, 1 came'],
    [['diff', good, bad, '--reporter', 'junit=-'], '--reporter junit came, allowed: console, markdown, json'],
    [['matrix'], 'report matrix needs logs'],
    [['matrix', good, '--out', folder], 'report matrix has no --out'],
    [['badge'], 'report badge takes one event log, 0 came'],
    [['merge'], 'report merge needs the logs of the shards'],
    [[good, '--reporter', 'junit'], '--reporter junit needs a path'],
    [[good, '--reporter', 'junit=-', '--reporter', 'tap=-'], 'only one report can go to standard output'],
  ])('refuses %o', (args, message) => {
    expect(() => report(...args)).toThrow(message);
  });
});

describe('report diff', () => {
  it('ends with 1 when the second run is worse, with 3 when it is not complete, else with 0', () => {
    expect(report('diff', good, bad).exitCode).toBe(1);
    expect(report('diff', bad, good).exitCode).toBe(0);
    expect(report('diff', good, asJson)).toMatchObject({ exitCode: 0 });
    expect(report('diff', good, cut).exitCode).toBe(3);
    const parsed = JSON.parse(report('diff', good, bad, '--reporter', 'json=-').out) as unknown;
    expect(parsed).toMatchObject({
      schema: 1,
      regressionCount: 1,
      changes: [{ id: 'CONN-001a', kind: 'worse' }],
    });
  });
});

it('report diff tells what it found beside the reports, because it judges', () => {
  const page = join(folder, 'diff.md');
  const { exitCode, out } = report('diff', good, bad, '--reporter', `markdown=${page}`);
  expect(exitCode).toBe(1);
  expect(out).toContain('CONN-001a');
  expect(readFileSync(page, 'utf8')).toContain('CONN-001a');
});

describe('report merge', () => {
  it('writes a log of the whole that can be read again', () => {
    const plan = ['CONN-001a', 'CONN-002a'];
    const paths = plan.map((id, index) => {
      const header = { plan, assigned: [id], shard: { index: index + 1, count: 2 } };
      return file(`shard-${index}.ndjson`, sampleLog([sampleResult(id, 'pass')], { header }));
    });
    const out = join(folder, 'merged');
    const merging = report('merge', ...paths, '--out', out);
    expect(merging).toMatchObject({ exitCode: 0, err: '' });
    expect(merging.out).toContain('tiny is CONFORMANT.');
    const merged = parseLog(readFileSync(join(out, 'events.ndjson'), 'utf8'), 'merged');
    expect(merged.results).toHaveLength(2);
    expect(report('merge', ...paths.slice(1)).exitCode).toBe(3);
  });
});

describe('report matrix and badge', () => {
  it('print Markdown and SVG, or what else was asked for', () => {
    const page = join(folder, 'matrix.html');
    expect(report('matrix', good, bad).out).toContain('| CONN-001a | title of CONN-001a | pass | fail |');
    expect(report('matrix', good, bad, '--reporter', `html=${page}`)).toMatchObject({ out: '', err: '' });
    expect(readFileSync(page, 'utf8')).toContain('<h1>Conformance of 2 runs</h1>');
    expect(report('badge', good).out).toMatch(/^<svg /);
    expect(JSON.parse(report('badge', good, '--reporter', 'badge-json=-').out)).toMatchObject({
      schemaVersion: 1,
    });
  });
});
