// The console report and the redaction, on a real run.
import { describe, expect, it } from 'vitest';
import { runSuite } from '../engine/suite.ts';
import { ExpectationFailure } from '../expectation.ts';
import { colourfulLog, interruptedLog } from '../testing/sample-log.ts';
import { recordedFrames, tinyCatalogue, tinyCheck, tinyOptions } from '../testing/tiny-target.ts';
import { consoleLines, consoleReport } from './console.ts';
import type { LogEvent } from './event-log.ts';
import { LogRecorder } from './log-recorder.ts';
import { redactor } from './redaction.ts';

const failing = tinyCheck(
  'CONN-001a',
  async (ctx) => {
    const connection = await ctx.connect();
    await connection.ping();
    throw new ExpectationFailure('the broker sings', { expected: 'a song', actual: 'silence' });
  },
  { accepts: ['a song', 'a hum'] },
);
const catalogue = tinyCatalogue([failing]);

async function events(): Promise<readonly LogEvent[]> {
  const seen: LogEvent[] = [];
  const redact = <T>(value: T): T => value;
  const recorder = new LogRecorder({ catalogue, redact, wholeTraces: true, wallNow: () => new Date(0) });
  const observe = (event: Parameters<LogRecorder['record']>[0]): void =>
    void seen.push(recorder.record(event));
  await runSuite({ catalogue, golden: recordedFrames() }, tinyOptions(), observe);
  return seen;
}

describe('the console report', () => {
  it('explains a failure: rule, what is accepted, what came, the frames, how to see it again', async () => {
    const setting = { trace: 'fail', color: false } as const;
    const text = (await events()).flatMap((event) => consoleLines(event, setting)).join('\n');
    expect(text).toContain('tiny: 1 checks, seed 1, wire whole');
    expect(text).toContain('FAIL CONN-001a title of CONN-001a');
    expect(text).toContain('CONN-001 (MUST): A MUST.');
    expect(text).toContain('accepted: a hum');
    expect(text).toContain('expected: a song');
    expect(text).toContain('came:     silence');
    expect(text).toMatch(/ms A -> Connect id=1-\w{5}\.conn-001a\.c-1\n.*000000[0-9a-f]{2}00/);
    expect(text).toMatch(/ms A <- Pong id=/);
    expect(text).toContain('again:    truemq-conformance run --target tiny.json --only CONN-001a --seed 1');
    expect(text.split('\n').slice(-2)).toEqual([
      'tiny is NOT CONFORMANT to profile core.',
      'The gate is closed (exit code 1): 1 check failed.',
    ]);
  });

  it('prints no trace when told so, and colours only when told so', async () => {
    const all = await events();
    const plain = all.flatMap((event) => consoleLines(event, { trace: 'off', color: false })).join('\n');
    expect(plain).not.toContain('-> Connect');
    const coloured = all.flatMap((event) => consoleLines(event, { trace: 'off', color: true })).join('\n');
    expect(coloured).toContain('\u001b[31mFAIL\u001b[0m');
    expect(plain).not.toContain('\u001b[');
  });

  it('obeys nothing that a broker sends', () => {
    const text = consoleReport(colourfulLog(), { trace: 'fail', color: false }).join('\n');
    expect(text).toContain('\\u001b[2J\\u0000\\u202e\\ud800\\uffff');
    expect(text).not.toMatch(/[^\P{C}\n]/u);
    expect(text).toContain('| ::error::x');
    expect(text).not.toMatch(/^\s*::/m);
  });

  it('says of an interrupted run what it is', () => {
    expect(consoleReport(interruptedLog(), { trace: 'off', color: false }).slice(-3)).toEqual([
      '1 pass',
      'tiny is NOT SHOWN to be conformant: the run is not complete.',
      'The gate is closed (exit code 5): the log ends before the run did; 1 of 2 checks had ended.',
    ]);
  });
});

describe('redaction', () => {
  it('blacks out what the patterns match, wherever it stands', () => {
    const redact = redactor(['tok-\\w+']);
    expect(redact({ a: ['x tok-1 y', { b: 'tok-2' }], n: 5, u: undefined })).toEqual({
      a: ['x [redacted] y', { b: '[redacted]' }],
      n: 5,
      u: undefined,
    });
  });

  it('leaves functions and values alone without patterns', () => {
    const value = { f: () => 1 };
    expect(redactor([])(value)).toBe(value);
  });
});
