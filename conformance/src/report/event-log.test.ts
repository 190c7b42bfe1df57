// The event log: what is written is read again as it was; what was cut, damaged, edited or is newer is not believed.
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import type { SuiteEvent } from '../engine/suite.ts';
import { runSuite } from '../engine/suite.ts';
import { ExpectationFailure } from '../expectation.ts';
import {
  colourfulLog,
  hostileResult,
  interruptedLog,
  sampleLog,
  sampleResult,
} from '../testing/sample-log.ts';
import { recordedFrames, tinyCatalogue, tinyCheck, tinyOptions } from '../testing/tiny-target.ts';
import { verdictOfLog } from './event-log.ts';
import { reportJson } from './json.ts';
import { parseLog } from './log-reader.ts';
import { LogRecorder } from './log-recorder.ts';
import { logText } from './log-writer.ts';
import { parseReport } from './report-reader.ts';

const ajv = new Ajv2020({ strict: true, strictRequired: false, allErrors: true });

function validator(name: string): (value: unknown) => readonly string[] {
  const schema = JSON.parse(
    readFileSync(new URL(`../../schemas/${name}`, import.meta.url), 'utf8'),
  ) as object;
  const validate = ajv.compile(schema);
  return (value) => (validate(value) ? [] : [ajv.errorsText(validate.errors)]);
}

const eventFaults = validator('event-log.schema.json');
const reportFaults = validator('report.schema.json');
const linesOf = (text: string): unknown[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line));

const failing = tinyCheck(
  'CONN-001a',
  async (ctx) => {
    await (await ctx.connect()).ping();
    ctx.warn('CONN-002', 'it hums');
    throw new ExpectationFailure('the broker sings', { expected: 'a song', actual: 'silence' });
  },
  { accepts: ['a song', 'a hum'] },
);

async function recorded(): Promise<LogRecorder> {
  const catalogue = tinyCatalogue([failing, tinyCheck('CONN-003a', async () => {})]);
  const recorder = new LogRecorder({
    catalogue,
    redact: (value) => value,
    wholeTraces: false,
    wallNow: () => new Date(0),
  });
  const observe = (event: SuiteEvent): void => void recorder.record(event);
  await runSuite({ catalogue, golden: recordedFrames() }, tinyOptions(), observe);
  return recorder;
}

describe('the log of a run', () => {
  it('has a line for each event, by its published schema, and is read as it was', async () => {
    const { log } = await recorded();
    const text = logText(log);
    const lines = linesOf(text);
    expect(lines.flatMap(eventFaults)).toEqual([]);
    expect(lines.map((line) => (line as { type: string }).type)).toEqual([
      'run started',
      'check finished',
      'check finished',
      'run finished',
    ]);
    expect(parseLog(text, 'events.ndjson')).toEqual(log);
  });

  it('says what was to be run, and of each check all that a report needs', async () => {
    const { header, results, finish } = (await recorded()).log;
    expect(header).toMatchObject({
      schema: 1,
      target: { name: 'tiny', lifecycle: 'spawn', profiles: ['core'] },
      seed: 1,
      plan: ['CONN-001a', 'CONN-003a'],
      suite: { protocol: 1, checkCount: 2 },
    });
    expect(results[0]).toMatchObject({
      outcome: 'fail',
      accepts: ['a song', 'a hum'],
      rules: [
        { id: 'CONN-001', level: 'MUST', sentence: 'A MUST.' },
        { id: 'CONN-002', level: 'SHOULD', sentence: 'A SHOULD.' },
      ],
    });
    expect(results[0]?.trace.map(({ kind }) => kind)).toContain('received');
    expect(finish).toMatchObject({ target: { name: 'tiny', version: '1' }, verdict: { gate: 'closed' } });
  });

  it('keeps secrets to itself, in texts and in bytes', async () => {
    const { log } = await recorded();
    const secret = Buffer.from('tok-123');
    const catalogue = tinyCatalogue([failing]);
    const { redactor } = await import('./redaction.ts');
    const setting = {
      catalogue,
      redact: redactor(['tok-\\d+']),
      wholeTraces: true,
      wallNow: () => new Date(0),
    };
    const recorder = new LogRecorder(setting);
    const [first] = log.results;
    if (first === undefined) throw new Error('no result');
    const trace = [
      {
        atMs: 1,
        connection: 'A',
        kind: 'sent',
        text: 'token tok-123',
        hex: secret.toString('hex'),
        byteCount: 7,
      } as const,
    ];
    const line = JSON.stringify(recorder.record({ type: 'check finished', result: { ...first, trace } }));
    expect(line).toContain('token [redacted]');
    expect(line).not.toContain('tok-123');
    expect(line).not.toContain(secret.toString('hex'));
    expect(line).toContain(Buffer.from('*******').toString('hex'));
  });
});

describe('a log that was interrupted', () => {
  it('is read without its last line, also where a line was half written, and never green', () => {
    const text = logText(interruptedLog());
    for (const cut of [text, `${text}{"type":"check fini`]) {
      const log = parseLog(cut, 'x');
      expect(log.finish).toBeUndefined();
      expect(verdictOfLog(log)).toMatchObject({
        conformant: false,
        status: 'undetermined',
        gate: 'closed',
        exitCode: 5,
        reason: 'the log ends before the run did; 1 of 2 checks had ended',
      });
    }
  });
});

describe('a log that is not believed', () => {
  const text = logText(colourfulLog());
  const lines = text.split('\n');
  const replaced = (index: number, line: string): string => lines.with(index, line).join('\n');

  it.each([
    ['an empty file', '', 'x line 1: not an event log'],
    ['another file', 'hello\n', 'x line 1: damaged'],
    ['a log without its beginning', lines.slice(1).join('\n'), 'x line 1: not an event log'],
    ['a damaged line', replaced(2, '{"type":"check finished","resu'), 'x line 3: damaged'],
    ['an unknown event', replaced(2, '{"type":"check begun"}'), 'x line 3: not an event of an event log'],
    ['a result that is none', replaced(2, '{"type":"check finished","result":{"id":"a"}}'), 'x line 3: '],
    ['an unknown outcome', text.replace('"outcome":"pass"', '"outcome":"green"'), 'result.outcome'],
    ['a newer version', text.replace('"schema":1', '"schema":2'), 'x line 1: version 2 of the format came'],
    ['a check twice', replaced(3, lines[2] ?? ''), 'CONN-002a (repetition 1) is there twice'],
    ['an edited outcome', text.replace('"outcome":"fail"', '"outcome":"pass"'), 'the log was changed after'],
    ['an edited verdict', text.replace('"exitCode":5', '"exitCode":0'), 'the log was changed after'],
    ['a line taken out', lines.toSpliced(2, 1).join('\n'), 'the log was changed after'],
    ['a line in other words', replaced(2, ` ${lines[2]}`), 'x line 3: the log was changed after'],
    ['something after the end', `${text}more`, 'the log continues after its last event'],
    ['an end in the middle', [...lines.slice(0, -1), lines[2], ''].join('\n'), 'came in the middle'],
  ])('%s', (_, damaged, message) => {
    expect(() => parseLog(damaged, 'x')).toThrow(message);
  });
});

describe('the report JSON', () => {
  it('keeps to its published schema and is read again without traces', () => {
    const log = colourfulLog();
    const text = reportJson(log);
    expect(reportFaults(JSON.parse(text))).toEqual([]);
    const read = parseReport(text, 'report.json');
    expect(read.header).toEqual(log.header);
    expect(read.finish).toEqual(log.finish);
    expect(read.results.map(({ id, outcome }) => [id, outcome])).toEqual(
      log.results.map(({ id, outcome }) => [id, outcome]),
    );
    expect(text).not.toContain('"trace"');
  });

  it('says of an interrupted run that it is one', () => {
    const text = reportJson(interruptedLog());
    expect(reportFaults(JSON.parse(text))).toEqual([]);
    expect(JSON.parse(text)).toMatchObject({ finished: false, verdict: { status: 'undetermined' } });
    expect(parseReport(text, 'report.json').finish).toBeUndefined();
  });

  it.each([
    [
      'an edited outcome',
      (text: string) => text.replace('"outcome": "fail"', '"outcome": "pass"'),
      'was changed',
    ],
    ['a cut file', (text: string) => text.slice(0, -20), 'report.json is damaged'],
    ['a newer version', (text: string) => text.replace('"schema": 1', '"schema": 9'), 'version 9'],
    ['another document', () => '{\n}', 'report.json is not a report'],
  ])('refuses %s', (_, change, message) => {
    expect(() => parseReport(change(reportJson(colourfulLog())), 'report.json')).toThrow(message);
  });

  it('begins as it always has', () => {
    const document = JSON.parse(reportJson(sampleLog([sampleResult('CONN-001a', 'pass')]))) as object;
    expect(Object.keys(document).slice(0, 6)).toEqual([
      'schema',
      'runner',
      'target',
      'seed',
      'verdict',
      'counts',
    ]);
    expect(document).toMatchObject({
      schema: 1,
      target: { name: 'tiny', version: '1' },
      verdict: { conformant: true, gate: 'open', exitCode: 0 },
      counts: { pass: 1 },
      results: [{ id: 'CONN-001a', outcome: 'pass', clauses: ['CONN-001'] }],
    });
  });
});

it('takes hostile texts through the log unchanged', () => {
  const log = sampleLog([hostileResult('CONN-001a')]);
  expect(parseLog(logText(log), 'x')).toEqual(log);
});
