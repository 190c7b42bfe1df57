// What a run tells while it goes on, and what it leaves: the log grows line by line, standard output belongs to one report alone, old
// reports are gone, progress is shown to a person only.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseFlags } from '../cli/flags.ts';
import type { Terminal } from '../cli/terminal.ts';
import type { SuiteEvent } from '../engine/suite.ts';
import { runSuite } from '../engine/suite.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { recordedFrames, tinyCatalogue, tinyCheck, tinyOptions } from '../testing/tiny-target.ts';
import { parseLog } from './log-reader.ts';
import { readOutputs, reportFlags } from './reporters.ts';
import { faultLines, Reporting } from './reporting.ts';

const catalogue = tinyCatalogue([
  tinyCheck('CONN-001a', async (ctx) => {
    await (await ctx.connect()).ping();
    ctx.assert.ok(true, 'it answers', { actual: 'it' });
  }),
]);

function screen(more: Partial<Terminal> = {}) {
  const lines = { out: [] as string[], err: [] as string[] };
  const terminal: Terminal = {
    out: (line) => lines.out.push(line),
    err: (line) => lines.err.push(line),
    color: false,
    ...more,
  };
  return { lines, terminal };
}

function reportingFor(args: readonly string[], terminal: Terminal, environment = {}): Reporting {
  const outputs = readOutputs(parseFlags(args, reportFlags), environment);
  return new Reporting({ outputs, catalogue, terminal, redact: (value) => value });
}

async function runWith(reporting: Reporting, look: (event: SuiteEvent) => void = () => {}): Promise<void> {
  await runSuite({ catalogue, golden: recordedFrames() }, tinyOptions(), (event) => {
    reporting.observe(event);
    look(event);
  });
}

describe('the event log of a run', () => {
  it('is there line by line while the run goes on, in the folder and where it was asked for', async () => {
    const out = temporaryFolder();
    const named = join(temporaryFolder(), 'named.ndjson');
    const reporting = reportingFor(['--out', out, '--reporter', `ndjson=${named}`], screen().terminal);
    expect(reporting.start()).toEqual([]);
    const lineCounts: number[] = [];
    await runWith(reporting, () => lineCounts.push(readFileSync(named, 'utf8').split('\n').length - 1));
    expect(lineCounts).toEqual([1, 2, 3]);
    expect(reporting.finish()).toEqual([]);
    const text = readFileSync(join(out, 'events.ndjson'), 'utf8');
    expect(parseLog(text, 'events.ndjson').finish?.verdict.gate).toBe('open');
    expect(readFileSync(named, 'utf8')).toBe(text);
  });

  it('goes to standard output as it happens, and the console to standard error', async () => {
    const { lines, terminal } = screen();
    const reporting = reportingFor(['--reporter', 'ndjson=-'], terminal);
    expect(reporting.start()).toEqual([]);
    const seen: number[] = [];
    await runWith(reporting, () => seen.push(lines.out.length));
    reporting.finish();
    expect(seen).toEqual([1, 2, 3]);
    expect(parseLog(`${lines.out.join('\n')}\n`, '-').results).toHaveLength(1);
    expect(lines.err.join('\n')).toContain('tiny is CONFORMANT to profile core.');
  });
});

describe('standard output', () => {
  it('holds the one report that was asked for and nothing else', async () => {
    const { lines, terminal } = screen();
    const reporting = reportingFor(['--reporter', 'json=-'], terminal);
    reporting.start();
    await runWith(reporting);
    reporting.finish();
    expect(JSON.parse(lines.out.join('\n'))).toMatchObject({ counts: { pass: 1 } });
    expect(lines.err.at(-1)).toContain('The gate is open');
  });
});

describe('the folder', () => {
  it('loses what an older run left, and nothing else', () => {
    const out = temporaryFolder();
    for (const name of ['traces', 'logs']) mkdirSync(join(out, name));
    const old = ['report.html', 'events.ndjson', 'traces/CONN-001a.json', 'logs/CONN-001a.2.log'];
    for (const name of [...old, 'mine.txt', 'traces/mine.json']) writeFileSync(join(out, name), 'old');
    const reporting = reportingFor(['--out', out], screen().terminal);
    expect(reporting.start()).toEqual([]);
    const left = [...old, 'mine.txt', 'traces/mine.json'].filter((name) => existsSync(join(out, name)));
    expect(left).toEqual(['events.ndjson', 'mine.txt', 'traces/mine.json']);
    expect(readFileSync(join(out, 'events.ndjson'), 'utf8')).toBe('');
  });

  it('is told when it cannot be one', () => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    const faults = reportingFor(['--out', file], screen().terminal).start();
    expect(faults).toEqual([expect.stringMatching(/^--out .*file cannot be written: /)]);
  });
});

describe('faults of reports', () => {
  it('are told once for each reason, with the exit code that follows', () => {
    const full = (path: string): string => `${path} could not be written: the disk is full`;
    const other = 'd could not be written: permission is denied';
    expect(faultLines([full('a'), other, full('b'), full('c')])).toEqual([
      'truemq-conformance: a could not be written: the disk is full (and 2 more)',
      `truemq-conformance: ${other}`,
      'truemq-conformance: The exit code is 5: a report is missing.',
    ]);
    expect(faultLines([])).toEqual([]);
  });
});

describe('the step summary', () => {
  it('is where Markdown without a path goes, behind what is there', async () => {
    const path = join(temporaryFolder(), 'summary');
    writeFileSync(path, 'before\n');
    const reporting = reportingFor(['--reporter', 'markdown'], screen().terminal, {
      GITHUB_STEP_SUMMARY: path,
    });
    reporting.start();
    await runWith(reporting);
    expect(reporting.finish()).toEqual([]);
    expect(readFileSync(path, 'utf8')).toMatch(/^before\n## tiny 1: conformant/);
  });

  it('is told before the run when it cannot be written', () => {
    const environment = { GITHUB_STEP_SUMMARY: temporaryFolder() };
    const reporting = reportingFor(['--reporter', 'markdown'], screen().terminal, environment);
    expect(reporting.start()).toEqual([expect.stringContaining('cannot be written: it is a folder')]);
  });

  it('is needed where Markdown has no path', () => {
    const flags = parseFlags(['--reporter', 'markdown'], reportFlags);
    expect(() => readOutputs(flags, {})).toThrow('--reporter markdown needs a path');
  });
});

describe('progress', () => {
  it('is told after each check, and erased at the end', async () => {
    const shown: (string | undefined)[] = [];
    const { terminal } = screen({ progress: (text) => shown.push(text) });
    const reporting = reportingFor([], terminal);
    await runWith(reporting);
    expect(shown[0]).toMatch(/^0 of 1 checks, \d+/);
    expect(shown[1]).toMatch(/^1 of 1 checks, \d+/);
    expect(shown.at(-1)).toBeUndefined();
  });
});
