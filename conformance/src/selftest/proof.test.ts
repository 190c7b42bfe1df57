// The proofs are shown to notice what they are for: a codec without recordings, an accountant that is wrong, a check that is content with
// a broker that does nothing right; and the command refuses what it cannot prove.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { checks } from '../checks/index.ts';
import { selftestCommand } from '../commands/selftest.ts';
import { knownHistories } from '../history/pathological.ts';
import type { Outcome } from '../outcome.ts';
import type { CheckResult } from '../result.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { recordedFrames, tinyCatalogue, tinyCheck, tinyOptions } from '../testing/tiny-target.ts';
import { goldenCases, historyCases, nullBrokerCases, nullCase } from './proof.ts';
import { statelessPasses } from './stateless-passes.ts';

describe('goldenCases', () => {
  it('shows every recording, and is not content with none', () => {
    expect(goldenCases(recordedFrames()).flatMap(({ faults }) => faults)).toEqual([]);
    expect(goldenCases([]).flatMap(({ faults }) => faults)).toHaveLength(1);
  });
});

describe('historyCases', () => {
  it('tells what the accountant finds and what there is', () => {
    const lost = knownHistories.find(({ finds }) => finds.length > 0);
    if (lost === undefined) throw new Error('no known history is wrong');
    const [one] = historyCases([{ ...lost, finds: [], counts: { attempted: 77 } }]);
    expect(one?.faults.join('; ')).toContain('expected: nothing');
    expect(one?.faults.join('; ')).toContain('expected 77 attempted');
    expect(historyCases([lost])[0]?.faults).toEqual([]);
  });
});

describe('null brokers', () => {
  const result = (outcome: Outcome, reason?: string): CheckResult => {
    const evidence = { frames: 0, messages: 0, responses: 0, assertions: 0 };
    const head = { id: 'X-001a', title: '', level: 'MUST', profile: 'core', clauses: [], outcome } as const;
    const tail = {
      notes: [],
      warnings: [],
      durationMs: 0,
      reproduce: '',
      repetition: 1,
      trace: [],
      brokerLog: [],
    };
    return { ...head, evidence, ...tail, ...(reason === undefined ? {} : { reason }) };
  };

  it.each<[Outcome, string | undefined, boolean]>([
    ['fail', 'nothing came', true],
    ['warn', 'nothing came', true],
    ['not applicable', 'nothing came', true],
    ['not shown', 'nothing waited', true],
    ['warn', undefined, false],
    ['pass', undefined, false],
    ['error', 'it threw', false],
    ['could not run', 'it lacks something', false],
  ])('%s (%s) is a refusal: %s', (outcome, reason, isRefusal) => {
    expect(nullCase('silent', result(outcome, reason)).faults.length === 0).toBe(isRefusal);
  });

  it.each<[string, Outcome, boolean]>([
    ['CONN-018a', 'pass', true],
    ['CONN-018a', 'warn', true],
    ['CONN-018a', 'fail', false],
    ['CONN-018a', 'not shown', false],
    ['QUEUE-009a', 'pass', false],
    ['QUEUE-009a', 'not shown', true],
  ])('without state: %s may end with %s: %s', (id, outcome, isFair) => {
    const reason = outcome === 'fail' || outcome === 'not shown' ? 'because' : undefined;
    const { faults } = nullCase('stateless', { ...result(outcome, reason), id });
    expect(faults.length === 0).toBe(isFair);
  });

  it('name only checks that there are', () => {
    const known = new Set(checks.map(({ id }) => id));
    expect([...statelessPasses].filter((id) => !known.has(id))).toEqual([]);
  });

  it('find the check that is content with an answer', async () => {
    const stored = tinyCheck('CONN-001a', async (ctx) => {
      const client = await ctx.connect();
      await client.publish('q', '1');
      ctx.assert.equal((await client.queueInfo('q'))?.['subscriberCount'], 0, 'subscribers');
    });
    const delivered = tinyCheck('CONN-001b', async (ctx) => {
      const client = await ctx.connect();
      await client.subscribe('q');
      await client.publish('q', '1');
      ctx.assert.equal((await client.delivery()).queue, 'q', 'the queue');
    });
    const sources = { catalogue: tinyCatalogue([stored, delivered]), golden: recordedFrames() };
    const cases = await nullBrokerCases('stateless', sources, tinyOptions());
    expect(cases.map(({ faults }) => faults.length)).toEqual([1, 0]);
  });

  it('find the check that is content with anything', async () => {
    const content = tinyCheck('CONN-001a', async (ctx) => ctx.assert.ok(true, 'whatever', { actual: 'it' }));
    const strict = tinyCheck('CONN-001b', async (ctx) => void (await ctx.connect()));
    const sources = { catalogue: tinyCatalogue([content, strict]), golden: recordedFrames() };
    const cases = await nullBrokerCases('closes', sources, tinyOptions());
    expect(cases.map(({ faults }) => faults.length)).toEqual([1, 0]);
  });
});

describe('selftest', () => {
  const sources = { catalogue: tinyCatalogue([]), golden: recordedFrames() };
  const silent = { out: () => {}, err: () => {}, color: false };
  const { signal } = new AbortController();

  function checkout(version?: string): string {
    const folder = temporaryFolder(afterAll);
    if (version === undefined) return folder;
    mkdirSync(join(folder, 'conformance', 'selftest'), { recursive: true });
    writeFileSync(join(folder, 'conformance', 'selftest', 'run.ts'), '');
    writeFileSync(join(folder, 'conformance', 'package.json'), JSON.stringify({ version }));
    return folder;
  }

  it.each([
    [['now'], 'selftest takes no argument, now came'],
    [['--reference', checkout()], 'is not a checkout of the repository'],
    [['--reference', checkout('99.0.0')], 'has version 99.0.0, this runner is'],
  ])('refuses %o', async (args, text) => {
    await expect(selftestCommand(args, sources, silent, signal)).rejects.toThrow(text);
  });

  it('ends with 5 when a proof is missing', async () => {
    const blind = { catalogue: tinyCatalogue([tinyCheck('CONN-001a', async () => {})]), golden: [] };
    const lines: string[] = [];
    const terminal = { ...silent, out: (line: string) => lines.push(line) };
    expect(await selftestCommand([], blind, terminal, AbortSignal.abort())).toBe(5);
    expect(lines.join('\n')).toContain('FAIL golden frames');
  });
});
