// The process around the command line: what it says when nobody reads it, and what it leaves when it is killed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { verdictOfLog } from '../report/event-log.ts';
import { readLog } from '../report/log-reader.ts';
import { builtRunner } from '../testing/built-programs.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { tinyTarget } from '../testing/tiny-target.ts';

it('ends with 5 and no stack trace when its output cannot be written', async () => {
  const child = spawn(process.execPath, [builtRunner, 'list'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.destroy();
  const errors: Buffer[] = [];
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  const [exitCode] = (await once(child, 'close')) as [number | null];
  expect(Buffer.concat(errors).toString()).toBe('');
  expect(exitCode).toBe(5);
});

// The runner opens no file here: the shell connects standard output to the device.
it('says in one sentence that its output does not fit on the disk', async () => {
  const command = `"${process.execPath}" "${builtRunner}" list > /dev/full`;
  const child = spawn('sh', ['-c', command], { stdio: ['ignore', 'ignore', 'pipe'] });
  const errors: Buffer[] = [];
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  const [exitCode] = (await once(child, 'close')) as [number | null];
  expect(Buffer.concat(errors).toString()).toBe(
    'truemq-conformance: standard output could not be written: the disk is full (ENOSPC); free some space, or choose another path\n',
  );
  expect(exitCode).toBe(5);
});

it('leaves the log of what was known when it is killed, no old report, and nothing that is green', async () => {
  const folder = temporaryFolder();
  const target = join(folder, 'tiny.json');
  writeFileSync(target, JSON.stringify(tinyTarget()));
  const out = join(folder, 'out');
  const old = join(folder, 'junit.xml');
  writeFileSync(old, 'green, of yesterday');
  const args = ['run', '--target', target, '--out', out, '--reporter', `junit=${old}`];
  const child = spawn(process.execPath, [builtRunner, ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'close');
  const log = readLog(join(out, 'events.ndjson'));
  expect(log.header.target.name).toBe('tiny');
  expect(verdictOfLog(log)).toMatchObject({ status: 'undetermined', gate: 'closed', exitCode: 5 });
  expect([old, join(out, 'report.json')].filter(existsSync)).toEqual([]);
});

describe('an interrupt in the middle of a run', () => {
  const isAlive = (pid: number): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  it.each(['SIGINT', 'SIGTERM'] as const)(
    '%s ends it with 5 within 2 s and leaves no process',
    async (signal) => {
      const folder = temporaryFolder();
      const target = join(folder, 'tiny.json');
      const pids = join(folder, 'pids');
      writeFileSync(target, JSON.stringify(tinyTarget({ TINY_PID: pids })));
      const child = spawn(process.execPath, [builtRunner, 'run', '--target', target], {
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      let interruptedAt = 0;
      child.stdout.on('data', (chunk: Buffer) => {
        // The first check has ended: brokers run, and other checks wait for answers that will not come.
        if (interruptedAt > 0 || !/^(pass|FAIL|warn)/m.test(chunk.toString())) return;
        interruptedAt = performance.now();
        child.kill(signal);
      });
      const [exitCode] = (await once(child, 'close')) as [number | null];
      expect(exitCode).toBe(5);
      expect(performance.now() - interruptedAt).toBeLessThan(2000);
      const started = readFileSync(pids, 'utf8').trim().split('\n').map(Number);
      expect(started.length).toBeGreaterThan(0);
      expect(started.filter(isAlive)).toEqual([]);
    },
  );
});
