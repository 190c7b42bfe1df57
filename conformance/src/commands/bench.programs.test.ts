// The command: what is refused before anything starts, comparing files, and a small real measurement of the skeleton through all of
// its processes. No figure is asserted.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import schema from '../../schemas/bench.schema.json' with { type: 'json' };
import type { BenchResult } from '../bench/bench-result.ts';
import { main } from '../cli/main.ts';
import type { Schema } from '../target/schema-check.ts';
import { schemaFaults } from '../target/schema-check.ts';

const folder = mkdtempSync(join(tmpdir(), 'truemq-bench-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

function bench(...args: readonly string[]) {
  return benchUntil(new AbortController().signal, args);
}

async function benchUntil(signal: AbortSignal, args: readonly string[]) {
  const lines = { out: [] as string[], err: [] as string[] };
  const terminal = {
    out: (line: string) => lines.out.push(line),
    err: (line: string) => lines.err.push(line),
    color: false,
  };
  const exitCode = await main(['bench', ...args], terminal, signal);
  return { exitCode, out: lines.out.join('\n'), err: lines.err.join('\n') };
}

function resultFile(
  name: string,
  values: readonly (number | null)[],
  latencies: readonly number[] = [],
): string {
  const path = join(folder, name);
  const file = {
    schema: 1,
    runner: { name: 'truemq-conformance', version: '0.1.0' },
    at: '2026-01-01T00:00:00.000Z',
    machine: { cores: 2, node: 'v20', platform: 'linux', arch: 'x64', loadAverage: 0 },
    settings: {},
    targets: [{ name: 'a' }],
    rows: [
      {
        job: 'throughput',
        load: '1024 B',
        target: 'a',
        values: { messagesPerSecond: values, p99Us: latencies },
        faults: [],
      },
    ],
  };
  writeFileSync(path, JSON.stringify(file));
  return path;
}

describe('bench refuses', () => {
  it.each([
    [[], '--target FILE is missing'],
    [['--target', 'skeleton', '--job', 'trougput'], '--job: trougput came, allowed: throughput, latency'],
    [['--target', 'skeleton', '--size', '3'], '--size: 3 came, allowed: a whole number from 16'],
    [['--target', 'skeleton', '--rate', 'most'], '--rate: most came'],
    [['--target', 'skeleton,skeleton'], 'two targets have the same name, skeleton'],
    [['--target', 'skeleton', '--size', '100,100'], '--size: 100 came twice'],
    [['--target', 'skeleton', '--rate', 'half,100,half'], '--rate: half came twice'],
    [['--target', 'skeleton', '--job', 'latency,latency'], '--job: latency came twice'],
    [['--target', 'skeleton', '--job', 'throughput', '--rate', '9'], '--rate is for --job latency'],
    [['--target', 'skeleton', '--subscribers', '9'], '--subscribers is for --job fan-out'],
    [
      ['--target', 'skeleton', '--job', 'depth', '--size', '99'],
      '--size is for --job throughput, latency, fan-out',
    ],
    [['--target', 'skeleton', '--fail-slower'], '--fail-slower is for --compare BEFORE AFTER'],
    [['--compare', 'a.json,b.json', '--json', 'c.json'], 'so --json is of no use beside it'],
    [['--target', 'skeleton', 'x'], 'bench takes no argument, x came'],
    [['--compare', 'a.json'], '--compare needs two files'],
    [['--compare', 'a.json', 'b.json'], 'a.json cannot be read'],
  ])('%o', async (args, text) => {
    const { exitCode, err } = await bench(...args);
    expect(err).toContain(text);
    expect(exitCode).toBe(2);
  });

  it('a file that holds no results', async () => {
    const path = join(folder, 'none.json');
    writeFileSync(path, '{"schema":1}');
    const { exitCode, err } = await bench('--compare', path, path);
    expect(err).toContain('is not a file of results');
    expect(exitCode).toBe(2);
  });
});

describe('bench on a broker of somebody else', () => {
  it('does not fill it up', async () => {
    const path = join(folder, 'attached.json');
    const endpoints = { tcp: { host: '127.0.0.1', port: 1 } };
    writeFileSync(path, JSON.stringify({ schema: 1, name: 'x', lifecycle: { kind: 'attach' }, endpoints }));
    const { exitCode, err } = await bench('--target', path, '--job', 'throughput,depth');
    expect(err).toContain('--job depth needs a broker that the runner starts; x is attached to');
    expect(exitCode).toBe(2);
  });
});

describe('bench --compare', () => {
  const fast = resultFile('fast.json', [100, 101, 102]);
  const slow = resultFile('slow.json', [50, 51, 52]);

  it('tells faster from slower from noise', async () => {
    expect((await bench('--compare', slow, fast)).out).toContain('faster');
    expect((await bench('--compare', `${fast},${slow}`)).out).toContain('slower');
    expect((await bench('--compare', fast, fast)).out).toContain('within noise');
  });

  it('closes the gate when it cannot tell whether anything became worse', async () => {
    const [two, none] = [
      resultFile('two.json', [100, 101]),
      resultFile('nothing.json', [null, null, null], [1, 2, 3]),
    ];
    for (const after of [two, none]) {
      const both = resultFile('both.json', [100, 101, 102], [1, 2, 3]);
      const { exitCode, err } = await bench('--compare', both, after, '--fail-slower');
      expect(err).toContain('it cannot be told whether everything is as fast as before');
      expect(exitCode).toBe(3);
      expect((await bench('--compare', both, after)).exitCode).toBe(0);
    }
  });

  it('does not close the gate where only the skeleton is slower, and a broker is as far from it as before', async () => {
    const measured = (name: string, skeleton: readonly number[], broker: readonly number[]): string => {
      const file = JSON.parse(readFileSync(resultFile(name, []), 'utf8')) as BenchResult;
      const row = (target: string, messagesPerSecond: readonly number[]) =>
        ({ job: 'throughput', load: '1 B', target, values: { messagesPerSecond }, faults: [] }) as const;
      const targets = [{ name: 'skeleton' }, { name: 'a' }];
      const rows = [row('skeleton', skeleton), row('a', broker)];
      writeFileSync(join(folder, name), JSON.stringify({ ...file, targets, rows }));
      return join(folder, name);
    };
    const before = measured('quick.json', [100, 101, 102], [50, 50.5, 51]);
    const after = measured('tired.json', [60, 60.6, 61.2], [30, 30.3, 30.6]);
    const { exitCode, out } = await bench('--compare', before, after, '--fail-slower');
    expect(out).toContain('slower');
    expect(exitCode).toBe(0);
    const worse = measured('worse.json', [100, 101, 102], [30, 30.3, 30.6]);
    expect((await bench('--compare', before, worse, '--fail-slower')).exitCode).toBe(1);
  });

  it('closes a gate only when told to', async () => {
    expect((await bench('--compare', fast, slow)).exitCode).toBe(0);
    expect((await bench('--compare', fast, slow, '--fail-slower')).exitCode).toBe(1);
    expect((await bench('--compare', slow, fast, '--fail-slower')).exitCode).toBe(0);
  });
});

describe('bench --target skeleton', () => {
  it('measures through its own processes and writes what the schema says', async () => {
    const path = join(folder, 'results', 'skeleton.json');
    const small = ['--size', '100', '--rate', '500', '--duration', '0.2', '--reps', '1'];
    const run = await bench('--target', 'skeleton', ...small, '--json', path);
    expect(run.err).not.toContain('failed');
    expect(run.exitCode).toBe(0);
    const file = JSON.parse(readFileSync(path, 'utf8')) as BenchResult;
    expect(schemaFaults(schema as Schema, file)).toEqual([]);
    expect(file.rows.map(({ job, load }) => `${job} ${load}`)).toEqual([
      'throughput 100 B',
      'latency 100 B at 500 msg/s',
    ]);
    expect(file.rows[0]?.values['messagesPerSecond']?.[0]).toBeGreaterThan(0);
  });

  it('measures over TLS and logged in, and the results say so', async () => {
    const path = join(folder, 'results', 'secured.json');
    const small = ['--job', 'throughput', '--size', '100', '--duration', '0.2', '--reps', '1'];
    const access = ['--tls', '--authentication', 'users'];
    const run = await bench('--target', 'skeleton', ...small, ...access, '--json', path);
    expect([run.exitCode, run.err]).toEqual([0, expect.not.stringContaining('failed')]);
    const file = JSON.parse(readFileSync(path, 'utf8')) as BenchResult;
    expect(file.settings).toMatchObject({ tls: true, authentication: 'users' });
    expect(file.rows[0]?.values['messagesPerSecond']?.[0]).toBeGreaterThan(0);
  });

  it('ends with 5 and without results when it is interrupted, also within a measurement', async () => {
    const path = resultFile('older.json', [1]);
    const long = ['--target', 'skeleton', '--job', 'throughput', '--duration', '3600', '--json', path];
    for (const signal of [AbortSignal.abort(), AbortSignal.timeout(1000)]) {
      const { exitCode, out, err } = await benchUntil(signal, long);
      expect(err).toContain('interrupted: no results');
      expect([exitCode, out]).toEqual([5, '']);
    }
    // Nobody takes older results for those of this measurement.
    expect(existsSync(path)).toBe(false);
  });

  it('prints the results for a program, and the table beside them', async () => {
    const small = ['--job', 'throughput', '--size', '100', '--duration', '0.1', '--reps', '1'];
    const { exitCode, out, err } = await bench('--target', 'skeleton', ...small, '--json', '-');
    expect(schemaFaults(schema as Schema, JSON.parse(out))).toEqual([]);
    expect(err).toContain('| 100 B | skeleton |');
    expect(exitCode).toBe(0);
  });

  it('measures nothing when the results cannot be written', async () => {
    const path = join(resultFile('file.json', [1]), 'below-a-file.json');
    const small = ['--job', 'throughput', '--size', '100', '--duration', '0.1', '--reps', '1'];
    const { exitCode, out, err } = await bench('--target', 'skeleton', ...small, '--json', path);
    expect(err).toContain('below-a-file.json cannot be written: a part of the path is a file');
    expect([exitCode, out]).toEqual([2, '']);
  });

  it('does not overwrite its target file', async () => {
    const path = join(folder, 'target.json');
    const endpoints = { tcp: { host: '127.0.0.1', port: 1 } };
    writeFileSync(path, JSON.stringify({ schema: 1, name: 'x', lifecycle: { kind: 'attach' }, endpoints }));
    const { exitCode, err } = await bench('--target', path, '--json', path);
    expect(err).toContain('would overwrite a target file; choose another path');
    expect(exitCode).toBe(2);
  });

  it('ends with 4 when the target does not start', async () => {
    const path = join(folder, 'broken.json');
    const lifecycle = { kind: 'spawn', command: [process.execPath, '-e', 'process.exit(1)'] };
    writeFileSync(path, JSON.stringify({ schema: 1, name: 'broken', lifecycle }));
    const { exitCode, err } = await bench('--target', path);
    expect(err).toContain('a target did not start: broken: ');
    expect(err).toMatch(/ended before it answered/);
    expect(exitCode).toBe(4);
  });
});

describe('bench on a broker with a fault', () => {
  function faulty(fault: string): string {
    const path = join(folder, `${fault}.json`);
    const program = fileURLToPath(new URL('../testing/faulty-skeleton.ts', import.meta.url));
    const command = [process.execPath, '--import', import.meta.resolve('tsx'), program, fault];
    writeFileSync(path, JSON.stringify({ schema: 1, name: fault, lifecycle: { kind: 'spawn', command } }));
    return path;
  }
  const small = ['--job', 'throughput', '--size', '100', '--duration', '0.2', '--reps', '1'];

  it('says how many messages came again', async () => {
    const { exitCode, out } = await bench('--target', faulty('twice'), ...small);
    expect(out).toMatch(/\| *delivered again \|/);
    expect(exitCode).toBe(0);
  });

  it('says how the broker ended, and its last word', async () => {
    const { exitCode, out } = await bench('--target', faulty('ends'), ...small);
    expect(out).toContain('failed: 100 B, ends, round 1: in the warm-up before it, ');
    expect(out).toContain('; the broker ended (exit code 42), its log ends with: out of cheese\\u001b[2J');
    expect(exitCode).toBe(1);
  });
});
