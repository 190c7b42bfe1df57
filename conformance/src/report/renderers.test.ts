// The reports of CI systems and readers: that what is red is red in each, that nothing is lost, and that no text of a broker breaks out.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { BaselineMark } from '../result.ts';
import {
  colourfulLog,
  hostileResult,
  hostileText,
  interruptedLog,
  sampleLog,
  sampleResult,
} from '../testing/sample-log.ts';
import type { Element } from '../testing/xml-reader.ts';
import { readXml } from '../testing/xml-reader.ts';
import { badgeJson, badgeSvg } from './badge.ts';
import { reportHtml } from './html.ts';
import { reportJson } from './json.ts';
import { junitXml } from './junit.ts';
import { markdownSummary } from './markdown.ts';
import { renderers, reporterNames } from './reporters.ts';
import { tapText } from './tap.ts';
import { visibleText } from './visible-text.ts';

const green = sampleLog([sampleResult('CONN-001a', 'pass')]);
const strictly = (warned: boolean, baseline?: BaselineMark) => {
  const mark = baseline === undefined ? {} : { baseline };
  const results = [sampleResult('CONN-001a', warned ? 'warn' : 'pass', { reason: 'it hums', ...mark })];
  const { options } = sampleLog(results).header;
  return sampleLog(results, { header: { options: { ...options, strict: true } } });
};
const expected = sampleLog([
  sampleResult('CONN-001a', 'fail', {
    reason: 'it sings',
    baseline: { expect: 'fail', reason: 'known for long' },
  }),
]);

/** Everything green but the run as a whole, which a stale baseline closed. */
const stale = sampleLog([sampleResult('CONN-001a', 'pass')], {
  finish: {
    verdict: {
      conformant: true,
      status: 'conformant',
      gate: 'closed',
      exitCode: 1,
      reason: 'the baseline is stale',
      partial: false,
    },
  },
});

describe('every report', () => {
  it.each(reporterNames)('%s is made of any log, hostile and interrupted ones too', (name) => {
    for (const log of [colourfulLog(), interruptedLog(), sampleLog([hostileResult('CONN-001a')])]) {
      const text = renderers[name](log);
      expect(text.endsWith('\n')).toBe(true);
      // JSON escapes what it must by itself; everything else is made visible.
      if (name !== 'json' && name !== 'ndjson') expect(text).not.toMatch(/[^\P{C}\n]/u);
    }
  });
});

describe('JUnit', () => {
  const cases = (root: Element): readonly Element[] =>
    root.children.flatMap(({ children }) => children.filter(({ name }) => name === 'testcase'));
  const verdictNames = (text: string): readonly string[] =>
    cases(readXml(text)).map(({ children }) => children.map(({ name }) => name).join());

  it('has real elements for what failed, what was not shown and what does not apply', () => {
    const root = readXml(junitXml(colourfulLog()));
    expect(root.name).toBe('testsuites');
    expect(root.attributes).toMatchObject({ tests: '8', failures: '1', errors: '4', skipped: '1' });
    expect(root.children.map(({ attributes }) => attributes['name'])).toEqual([
      'truemq-conformance.CONN',
      'truemq-conformance.FRAME',
      'truemq-conformance.run',
    ]);
    const told = cases(root).map(({ attributes, children }) => [
      attributes['name']?.slice(0, 10),
      ...children.map(({ name, attributes: { type = '' } }) => `${name} ${type}`.trim()),
    ]);
    expect(told).toEqual([
      ['CONN-001a ', 'failure fail'],
      ['CONN-002a '],
      ['CONN-003a ', 'skipped'],
      ['FRAME-001a', 'error could not run'],
      ['FRAME-002a', 'error error'],
      ['FRAME-003a', 'system-out'],
      ['FRAME-004a', 'error not shown'],
      ['the run as', 'error exit code 5'],
    ]);
  });

  it('counts in each suite what is in it, and times the way the form wants them', () => {
    const root = readXml(junitXml(colourfulLog()));
    for (const suite of root.children) {
      const inside = suite.children.filter(({ name }) => name === 'testcase');
      const count = (name: string): string =>
        String(inside.filter(({ children }) => children.some((child) => child.name === name)).length);
      expect(suite.attributes).toMatchObject({
        tests: String(inside.length),
        failures: count('failure'),
        errors: count('error'),
        skipped: count('skipped'),
        timestamp: '2026-01-02T03:04:05',
      });
      expect(inside.every(({ attributes }) => /^\d+\.\d{3}$/.test(attributes['time'] ?? ''))).toBe(true);
      expect(suite.children[0]?.name).toBe('properties');
    }
  });

  it('explains a failure in its text, and lets nothing out of it', () => {
    const [failed] = cases(readXml(junitXml(colourfulLog())));
    const [failure] = failed?.children ?? [];
    expect(failure?.text).toContain('CONN-001 (MUST): The sentence of CONN-001.');
    expect(failure?.text).toContain('accepted: a hum');
    expect(failure?.text).toContain('again:    truemq-conformance run');
    expect(failure?.text).toContain(visibleText(']]> </script><img src=x onerror=alert(1)>'));
    expect(failure?.attributes['message']).toContain('\\u001b[2J');
  });

  it('is red when the run is, though no check says so', () => {
    expect(verdictNames(junitXml(interruptedLog()))).toEqual(['', 'error']);
    expect(verdictNames(junitXml(stale))).toEqual(['', 'failure']);
    expect(verdictNames(junitXml(green))).toEqual(['', '']);
  });

  it('fails for a warning only where warnings close the gate, and skips what the baseline expects', () => {
    expect(verdictNames(junitXml(strictly(true)))).toEqual(['failure', '']);
    expect(verdictNames(junitXml(strictly(false)))).toEqual(['', '']);
    expect(verdictNames(junitXml(strictly(true, { expect: 'flaky', reason: 'known' })))).toEqual([
      'skipped,system-out',
      '',
    ]);
    const [first] = cases(readXml(junitXml(expected)));
    expect(first?.children[0]).toMatchObject({
      name: 'skipped',
      attributes: { message: 'fails, as the baseline expects: known for long; it sings' },
    });
  });
});

describe('TAP', () => {
  const points = (text: string): readonly string[] =>
    text.split('\n').filter((line) => /^(not )?ok /.test(line));

  it('has a plan, a point for each check and one for the run', () => {
    const text = tapText(colourfulLog());
    expect(text.split('\n').slice(0, 3)).toEqual([
      'TAP version 14',
      '# tiny 1, seed 7, truemq-conformance 0.1.0',
      '1..8',
    ]);
    expect(points(text)).toEqual([
      'not ok 1 - CONN-001a title of CONN-001a',
      'ok 2 - CONN-002a title of CONN-002a',
      'ok 3 - CONN-003a title of CONN-003a # SKIP the target does not declare nack',
      'not ok 4 - FRAME-001a title of FRAME-001a',
      'not ok 5 - FRAME-002a title of FRAME-002a',
      'ok 6 - FRAME-003a title of FRAME-003a',
      'not ok 7 - FRAME-004a title of FRAME-004a',
      'not ok 8 - the run as a whole',
    ]);
  });

  it('tells details as YAML that no text of a broker ends', () => {
    const lines = tapText(colourfulLog()).split('\n');
    const block = lines.slice(lines.indexOf('  ---') + 1, lines.indexOf('  ...'));
    expect(block.every((line) => /^ {2}\w+: ".*"$/.test(line))).toBe(true);
    const [found] = block.filter((line) => line.startsWith('  found: '));
    expect(JSON.parse(found?.slice('  found: '.length) ?? '')).toBe(visibleText(hostileText));
  });

  it('escapes what would be a directive', () => {
    const log = sampleLog([sampleResult('CONN-001a', 'fail', { title: 'a \\ # SKIP' })]);
    expect(points(tapText(log))[0]).toBe('not ok 1 - CONN-001a a \\\\ \\# SKIP');
    expect(points(tapText(expected))[0]).toContain('# todo known for long');
  });
});

describe('Markdown', () => {
  it('shows the log of a broker that did not start as lines', () => {
    const reason = 'x: ended before it answered\n  its log ends with:\n    | no `licence`';
    const { finish } = green;
    if (finish === undefined) throw new Error('the run is complete');
    const verdict = { ...finish.verdict, gate: 'closed', exitCode: 4, reason } as const;
    const text = markdownSummary({ ...green, finish: { ...finish, verdict } });
    expect(text).toContain('(exit code 4): x: ended before it answered.\n\n```text\n  its log ends with:\n');
    expect(text).toContain('\n    | no `licence`\n```\n');
  });

  it('shows in the line of a check what came, since Markdown is not read there', () => {
    const result = sampleResult('CONN-001a', 'fail', {
      title: 'an [odd] title',
      reason: 'a_b *c* <i> @all # | ~',
    });
    expect(markdownSummary(sampleLog([result]))).toContain(
      'CONN-001a an [odd] title: <code>a_b *c* &lt;i&gt; &#64;all # | ~</code></summary>',
    );
  });

  it('says the verdict, the counts, and explains what failed', () => {
    const text = markdownSummary(colourfulLog());
    expect(text).toContain('## tiny 1: not conformant');
    expect(text).toContain('The gate is **closed** (exit code 5)');
    expect(text).toContain('| 1 | 1 | 0 | 1 | 1 | 1 | 1 | 1 |');
    expect(text).toContain('### Failed');
    expect(text).toContain('### Not shown');
    expect(text).toContain('### Recommendations not followed');
    expect(text).toContain('CONN-001 (MUST): The sentence of CONN-001.');
    expect(markdownSummary(expected)).toContain('### Failed, as the baseline expects');
    expect(markdownSummary(interruptedLog())).toContain('1 of 2 checks were not reached.');
  });

  it('lists the MUSTs that no check covers', () => {
    const uncovered = [{ id: 'CONN-009', level: 'MUST', sentence: 'The broker hums.' }] as const;
    const scope = { profiles: ['core'], unbuilt: [], uncovered } as const;
    const log = sampleLog([sampleResult('CONN-001a', 'pass')], { header: { scope } });
    const text = markdownSummary(log);
    expect(text).toContain('### MUSTs that no check covers');
    expect(text).toContain('| CONN-009 | The broker hums. |');
    expect(reportHtml(log)).toContain('<li id="rule-CONN-009"><code>CONN-009</code> The broker hums.</li>');
    expect(JSON.parse(reportJson(log))).toMatchObject({ run: { scope } });
    expect(markdownSummary(colourfulLog())).not.toContain('MUSTs that no check covers');
  });

  it('lets no text of a broker out of its fence or its cell', () => {
    const text = markdownSummary(colourfulLog());
    expect(text).toContain('\n`````text\n');
    const outside = text.replace(/^(`{3,})text\n[\s\S]*?\n\1$/gm, '');
    expect(outside).not.toContain('<img');
    expect(outside).not.toContain('@all');
    expect(outside.split('\n').filter((line) => line.includes('FRAME-003 |'))).toHaveLength(1);
  });

  it('stays within the size of a comment, and says what is missing', () => {
    const results = Array.from({ length: 300 }, (_, index) =>
      hostileResult(`CONN-${String(index).padStart(3, '0')}a`),
    );
    const text = markdownSummary(sampleLog(results));
    expect(text.length).toBeLessThan(60_000);
    expect(text).toMatch(/\*\d+ more entries are in the whole report\.\*/);
    expect(text).toContain('## tiny 1: not conformant');
  });
});

describe('the badge', () => {
  it.each([
    [green, 'conformant: core', '2e7d32'],
    [colourfulLog(), 'not conformant', 'b3261e'],
    [interruptedLog(), 'not shown', '5f6368'],
    [
      sampleLog([sampleResult('CONN-001a', 'pass')], { header: { partial: true } }),
      'conformant in part',
      '8a6d00',
    ],
  ])('says what was shown and no more', (log, message, color) => {
    expect(JSON.parse(badgeJson(log))).toEqual({ schemaVersion: 1, label: 'conformance', message, color });
    const svg = readXml(
      badgeSvg(log)
        .replace(/ xmlns="[^"]*"/, '')
        .replace(/aria-label/, 'label'),
    );
    expect(svg.name).toBe('svg');
    expect(svg.children.find(({ name }) => name === 'title')?.text).toBe(`conformance: ${message}`);
    expect(badgeSvg(log)).toContain(`#${color}`);
  });
});

it('has a renderer and a line in the documentation for every name', () => {
  const text = readFileSync(new URL('../../docs/reports.md', import.meta.url), 'utf8');
  expect(reporterNames.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
});
