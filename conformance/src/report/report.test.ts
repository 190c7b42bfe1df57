// The reports: a failure explains itself, secrets are blacked out, the JSON has its form.
import { describe, expect, it } from 'vitest';
import type { SuiteEvent } from '../engine/suite.ts';
import { runSuite } from '../engine/suite.ts';
import { ExpectationFailure } from '../expectation.ts';
import { recordedFrames, tinyCatalogue, tinyCheck, tinyOptions } from '../testing/tiny-target.ts';
import { consoleLines } from './console.ts';
import { reportJson } from './json.ts';
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

async function events(): Promise<readonly SuiteEvent[]> {
  const seen: SuiteEvent[] = [];
  await runSuite({ catalogue, golden: recordedFrames() }, tinyOptions(), (event) => seen.push(event));
  return seen;
}

describe('the console report', () => {
  it('explains a failure: rule, what is accepted, what came, the frames, how to see it again', async () => {
    const setting = { catalogue, trace: 'fail', color: false } as const;
    const text = (await events()).flatMap((event) => consoleLines(event, setting)).join('\n');
    expect(text).toContain('tiny: 1 checks, seed 1, wire whole');
    expect(text).toContain('FAIL CONN-001a title of CONN-001a');
    expect(text).toContain('CONN-001 (MUST): A MUST.');
    expect(text).toContain('accepted: a hum');
    expect(text).toContain('expected: a song');
    expect(text).toContain('came:     silence');
    expect(text).toMatch(/ms A -> Connect id=1\.conn-001a\.c-1\n.*0000001[0-9a-f]00/);
    expect(text).toMatch(/ms A <- Pong id=/);
    expect(text).toContain('again:    truemq-conformance run --target tiny.json --only CONN-001a --seed 1');
    expect(text.split('\n').slice(-2)).toEqual([
      'tiny is NOT CONFORMANT.',
      'The gate is closed (exit code 1): 1 checks failed.',
    ]);
  });

  it('prints no trace when told so, and colours only when told so', async () => {
    const all = await events();
    const plain = all
      .flatMap((event) => consoleLines(event, { catalogue, trace: 'off', color: false }))
      .join('\n');
    expect(plain).not.toContain('-> Connect');
    const coloured = all
      .flatMap((event) => consoleLines(event, { catalogue, trace: 'off', color: true }))
      .join('\n');
    expect(coloured).toContain('\u001b[31mFAIL\u001b[0m');
    expect(plain).not.toContain('\u001b[');
  });
});

describe('the JSON report', () => {
  it('has its form', async () => {
    const finished = (await events()).find((event) => event.type === 'run finished');
    if (finished === undefined) throw new Error('the run did not finish');
    const document = JSON.parse(reportJson(finished.report, { name: 'r', version: '1' })) as Record<
      string,
      unknown
    >;
    expect(Object.keys(document)).toEqual([
      'schema',
      'runner',
      'target',
      'seed',
      'verdict',
      'counts',
      'results',
    ]);
    expect(document).toMatchObject({
      schema: 1,
      target: { name: 'tiny', version: '1' },
      verdict: { conformant: false, gate: 'closed', exitCode: 1 },
      counts: { fail: 1 },
      results: [
        { id: 'CONN-001a', outcome: 'fail', clauses: ['CONN-001'], expected: 'a song', actual: 'silence' },
      ],
    });
    expect(JSON.stringify(document)).not.toContain('"trace"');
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
