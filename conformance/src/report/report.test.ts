// The console report and the redaction, on a real run.
import { describe, expect, it } from 'vitest';
import { runSuite } from '../engine/suite.ts';
import { ExpectationFailure } from '../expectation.ts';
import { colourfulLog, interruptedLog, sampleLog, sampleResult } from '../testing/sample-log.ts';
import { recordedFrames, tinyCatalogue, tinyCheck, tinyOptions } from '../testing/tiny-target.ts';
import type { ConsoleSetting } from './console.ts';
import { ConsolePrinter, consoleReport } from './console.ts';
import type { LogEvent, LoggedCause } from './event-log.ts';
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

function printed(all: readonly LogEvent[], setting: ConsoleSetting): string {
  const printer = new ConsolePrinter(setting);
  return all.flatMap((event) => printer.lines(event)).join('\n');
}

describe('the console report', () => {
  it('explains a failure: rule, what is accepted, what came, the frames, how to see it again', async () => {
    const setting = { trace: 'fail', color: false } as const;
    const text = printed(await events(), setting);
    expect(text).toContain('tiny: 1 check, seed 1, wire whole');
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
    const plain = printed(all, { trace: 'off', color: false });
    expect(plain).not.toContain('-> Connect');
    const coloured = printed(all, { trace: 'off', color: true });
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

describe('one cause', () => {
  const trace = [{ atMs: 1, connection: 'A', kind: 'sent', text: 'Connect', hex: '', byteCount: 0 }] as const;
  const broken = { reason: 'ConnectAck did not come', reliesOn: 'CONN-005', trace };
  const setting = { trace: 'fail', color: false } as const;

  it('is explained at its first failure, and named at the others', () => {
    const results = ['CONN-001a', 'CONN-002a', 'CONN-003a'].map((id) => sampleResult(id, 'fail', broken));
    const lines = consoleReport(sampleLog(results), setting);
    expect(lines.filter((line) => line.includes('-- the check') || line.includes('Connect'))).toHaveLength(2);
    const second = lines.findIndex((line) => line.startsWith('FAIL CONN-002a'));
    expect(lines.slice(second + 1, second + 4)).toEqual([
      '     as CONN-001a above',
      expect.stringMatching(/^FAIL CONN-003a/),
      '     as CONN-001a above',
    ]);
    expect(lines).toContain('failed: CONN-001a, CONN-002a, CONN-003a');
  });

  it('is the same one when only the names of the check differ', () => {
    const results = ['CONN-001a', 'CONN-002a'].map((id) =>
      sampleResult(id, 'fail', {
        ...broken,
        reason: `Deliver for queue 1.${id.toLowerCase()}.q did not come`,
      }),
    );
    expect(consoleReport(sampleLog(results), setting)).toContain('     as CONN-001a above');
  });

  it('is another one where the requirement or the reason is another', () => {
    const results = [
      sampleResult('CONN-001a', 'fail', broken),
      sampleResult('CONN-002a', 'fail', { ...broken, reliesOn: 'CONN-006' }),
      sampleResult('CONN-003a', 'fail', { ...broken, reason: 'the broker does not take a connection' }),
    ];
    expect(consoleReport(sampleLog(results), setting).join('\n')).not.toContain(' above');
  });

  it('shortens the lists of what it blocks', () => {
    const blocked = Array.from({ length: 30 }, (_, index) => `CONN-${index + 100}a`);
    const cause = { id: 'CONN-005', level: 'MUST', sentence: 'It answers.', shownBy: ['CONN-007a'], blocked };
    const log = sampleLog([sampleResult('CONN-007a', 'fail')], {
      finish: { causes: [cause as LoggedCause] },
    });
    const text = consoleReport(log, setting).join('\n');
    expect(text).toContain('shown by CONN-007a; blocks 30: CONN-100a,');
    expect(text).toContain('CONN-111a and 18 more');
  });
});

describe('--quiet', () => {
  it('prints only what keeps the gate closed, and the end', () => {
    const lines = consoleReport(colourfulLog(), { trace: 'off', color: false, quiet: true });
    const heads = lines.filter((line) => /^(pass|FAIL|blkd|warn|n\/a |\?{4}|----|ERR ) /.test(line));
    expect(heads.map((line) => line.slice(5, 15).trim())).toEqual([
      'CONN-001a',
      'FRAME-001a',
      'FRAME-002a',
      'FRAME-004a',
    ]);
    expect(lines.join('\n')).not.toContain('checks, seed');
    expect(lines.slice(-1)[0]).toContain('The gate is closed');
    const right = consoleReport(sampleLog([sampleResult('CONN-001a', 'pass')]), {
      trace: 'off',
      color: false,
      quiet: true,
    });
    expect(right).toEqual([
      '',
      '1 pass',
      expect.stringContaining('CONFORMANT'),
      expect.stringContaining('open'),
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

  it('leaves the words of the runner, without which a log could not be read', () => {
    const event = {
      ...{ type: 'check finished', startedAt: '2026-01-01T00:00:00.000Z', plan: ['FRAME-004a'] },
      ...{ id: 'FRAME-004a', outcome: 'pass', reason: 'pass 1', trace: [{ kind: 'sent', text: 'sent' }] },
    };
    expect(redactor(['[a-z]+', '\\d+', '[A-Z]+-'])(event)).toEqual({
      ...event,
      reason: '[redacted] [redacted]',
      trace: [{ kind: 'sent', text: '[redacted]' }],
    });
    expect(redactor(['pass'])({ id: 'pass-1' })).toEqual({ id: '[redacted]-1' });
  });

  it('adds nothing where a pattern matches no character', () => {
    expect(redactor(['x*'])({ text: 'axxb' })).toEqual({ text: 'a[redacted]b' });
  });

  it('marks what has bytes that it replaced, and keeps their number', () => {
    const [secret, other] = ['tok-1;', 'other;'].map((text) => Buffer.from(text).toString('hex'));
    const stars = Buffer.from('*****;').toString('hex');
    expect(redactor(['tok-\\w+'])([{ hex: secret }, { hex: other }, { text: 'tok-1' }])).toEqual([
      { hex: stars, redacted: true },
      { hex: other },
      { text: '[redacted]' },
    ]);
  });

  it('leaves functions and values alone without patterns', () => {
    const value = { f: () => 1 };
    expect(redactor([])(value)).toBe(value);
  });
});
