// Whatever a broker sends, in any field that a report shows: every report stays what it is, and the log gives it back unchanged.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { outcomes } from '../outcome.ts';
import { codePoint } from '../testing/code-point.ts';
import { sampleLog, sampleResult } from '../testing/sample-log.ts';
import { readXml } from '../testing/xml-reader.ts';
import type { LoggedResult, RunLog } from './event-log.ts';
import { reportJson } from './json.ts';
import { junitXml } from './junit.ts';
import { parseLog } from './log-reader.ts';
import { logText } from './log-writer.ts';
import { parseReport } from './report-reader.ts';
import { renderers, reporterNames } from './reporters.ts';
import { markupText, visibleLine, visibleText } from './visible-text.ts';

/** Texts of any code units, halves of pairs included, with pieces of markup among them. */
const texts = fc
  .array(
    fc.oneof(
      fc.string({ unit: codePoint, maxLength: 8 }),
      fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
      fc.constantFrom(
        ']]>',
        '<!--',
        '</script>',
        '&#0;',
        '```',
        '\n',
        '  ...',
        '# SKIP',
        '|',
        '"',
        '\u001b[31m',
      ),
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(''));

const results: fc.Arbitrary<LoggedResult> = fc
  .record({
    outcome: fc.constantFrom(...outcomes),
    title: texts,
    reason: texts,
    expected: texts,
    actual: texts,
    accepts: fc.array(texts, { maxLength: 2 }),
    notes: fc.array(texts, { maxLength: 2 }),
    brokerLog: fc.array(texts, { maxLength: 2 }),
    warning: texts,
    frame: texts,
    reproduce: texts,
  })
  .map(({ outcome, warning, frame, ...rest }) =>
    sampleResult('CONN-001a', outcome, {
      ...rest,
      warnings: [{ clause: 'CONN-001', text: warning, expected: warning, actual: warning }],
      trace: [{ atMs: 1, connection: 'A', kind: 'received', text: frame, hex: '00ff', byteCount: 2 }],
    }),
  );

const logs: fc.Arbitrary<RunLog> = fc.record({ result: results, name: texts }).map(({ result, name }) => {
  const target = { name: `b${name}`, lifecycle: 'attach', profiles: [], capabilities: [] };
  return sampleLog([result], {
    header: { target },
    finish: { target: { name: target.name }, notes: [name] },
  });
});

it('gives the log back unchanged', () => {
  fc.assert(
    fc.property(logs, (log) => {
      expect(parseLog(logText(log), 'x')).toEqual(log);
    }),
  );
});

it('gives the report JSON back with its outcomes', () => {
  fc.assert(
    fc.property(logs, (log) => {
      const read = parseReport(reportJson(log), 'x');
      expect(read.finish).toEqual(log.finish);
      expect(read.results[0]).toMatchObject({
        outcome: log.results[0]?.outcome,
        title: log.results[0]?.title,
      });
    }),
  );
});

it('keeps JUnit well-formed, and its verdict', () => {
  const elements = {
    fail: 'failure',
    blocked: 'error',
    error: 'error',
    'not shown': 'error',
    'could not run': 'error',
    'not applicable': 'skipped',
  };
  fc.assert(
    fc.property(logs, (log) => {
      const [suite] = readXml(junitXml(log)).children;
      const [told] = suite?.children.find(({ name }) => name === 'testcase')?.children ?? [];
      const wanted = Object.entries(elements).find(([outcome]) => outcome === log.results[0]?.outcome)?.[1];
      expect(told?.name === 'system-out' ? undefined : told?.name).toBe(wanted);
    }),
  );
});

it('keeps HTML free of anything but its own elements', () => {
  fc.assert(
    fc.property(logs, (log) => {
      const html = renderers.html(log);
      expect(html.match(/<script/g)).toHaveLength(1);
      expect(html.match(/<\/script/g)).toHaveLength(1);
      expect(html.split('<!--')).toHaveLength(1);
    }),
  );
});

it('keeps TAP in step with its plan', () => {
  fc.assert(
    fc.property(logs, (log) => {
      const lines = renderers.tap(log).trimEnd().split('\n');
      expect(lines.filter((line) => /^(not )?ok \d+ - /.test(line))).toHaveLength(2);
      expect(
        lines.every((line) =>
          /^(TAP version 14|# .*|1\.\.2|(not )?ok \d.*| {2}---| {2}\.\.\.| {2}\w+: ".*")$/.test(line),
        ),
      ).toBe(true);
    }),
  );
});

it('shows no steering character in any report', () => {
  const shown = reporterNames.filter((name) => name !== 'json' && name !== 'ndjson');
  fc.assert(
    fc.property(logs, fc.constantFrom(...shown), (log, name) => {
      expect(renderers[name](log)).not.toMatch(/(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]|\p{Surrogate}/u);
    }),
  );
});

it('writes out what steers, once, and leaves every letter', () => {
  expect(visibleText('a\u001b[1m\tü\n\u202e\ud83d\ude00\ud83d')).toBe('a\\u001b[1m\tü\n\\u202e😀\\ud83d');
  expect(visibleLine('a\tb\nc')).toBe('a\\tb\\nc');
  expect(markupText(`<a href='x'>&"\u0000`)).toBe('&lt;a href=&#39;x&#39;&gt;&amp;&quot;\\u0000');
  fc.assert(
    fc.property(texts, (text) => {
      expect(visibleText(visibleText(text))).toBe(visibleText(text));
    }),
  );
});
