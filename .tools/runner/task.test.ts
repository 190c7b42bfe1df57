// Tasks that lie: no result file, an old one, a broken one, a good exit with nothing run, a hang.
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { countLastLine, countVitest, nothing } from './count.ts';
import type { Task } from './parts.ts';
import { runTask, type TaskResult } from './task.ts';

let root = '';
let shown: string[] = [];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'task-'));
  mkdirSync(join(root, 'out'));
  shown = [];
});

afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

const resultPath = 'out/result.json';

function evaluate(code: string, task: Partial<Task> = {}, limitMs = 30_000): Promise<TaskResult> {
  const whole: Task = {
    name: 'a task',
    args: ['-e', code],
    writes: [],
    count: ({ output }) => countLastLine(output),
    ...task,
  };
  return runTask(whole, {
    root,
    limitMs,
    buffered: false,
    show: (text) => shown.push(String(text)),
  });
}

describe('a task', () => {
  it('counts what its output says', async () => {
    const { count } = await evaluate("console.log('2 passed, 0 failed')");
    expect(count).toEqual({ ...nothing, passed: 2 });
    expect(shown.join('')).toBe('2 passed, 0 failed\n');
  });

  it('runs at a low priority when it gives way, as does its session where sessions have one', async () => {
    const code = `const { existsSync, readFileSync } = require('node:fs');
    const session = '/proc/self/autogroup';
    setInterval(() => {
      if (require('node:os').getPriority() < 10) return;
      if (existsSync(session) && !readFileSync(session, 'utf8').includes('nice 10')) return;
      console.log('1 passed, 0 failed');
      process.exit();
    }, 5)`;
    const { count } = await evaluate(code, { givesWay: true });
    expect(count).toEqual({ ...nothing, passed: 1 });
  });

  it('fails when it says that nothing ran', async () => {
    const { count } = await evaluate("console.log('0 passed, 0 failed')");
    expect(count).toEqual({ ...nothing, failed: 1, remarks: ['a task: nothing ran'] });
  });

  it('points to its output when it only tells how many failed', async () => {
    const { count } = await evaluate("console.log('2 passed, 3 failed')");
    expect(count).toEqual({
      ...nothing,
      passed: 2,
      failed: 3,
      remarks: ['a task: 3 failed, see above'],
    });
  });

  it('fails when it ends badly after a good count', async () => {
    const { count } = await evaluate("console.log('2 passed, 0 failed'); process.exitCode = 3");
    expect(count).toMatchObject({ passed: 2, failed: 1 });
  });

  it('fails when it does not write its result', async () => {
    const { count } = await evaluate("console.log('2 passed, 0 failed')", { writes: [resultPath] });
    expect(count).toMatchObject({ passed: 0, failed: 1 });
    expect(count.remarks[0]).toContain(`did not write ${resultPath}`);
  });

  it('fails when its result is older than the run', async () => {
    const path = join(root, resultPath);
    writeFileSync(path, '{}');
    const before = new Date(Date.now() - 60_000);
    utimesSync(path, before, before);
    const { count } = await evaluate("console.log('2 passed, 0 failed')", { writes: [resultPath] });
    expect(count.remarks[0]).toContain(`did not write ${resultPath}`);
  });

  it('fails when its result cannot be read', async () => {
    const { count } = await evaluate(`require('fs').writeFileSync('${resultPath}', '{"cut o')`, {
      writes: [resultPath],
      count: ({ read }) => countVitest(read(resultPath), false),
    });
    expect(count.remarks[0]).toContain('left a result that cannot be read');
  });

  it('has a folder for temporary files, which is removed with what it has left there', async () => {
    const code = `const fs = require('node:fs');
      const folder = require('node:os').tmpdir();
      fs.mkdirSync(folder + '/left');
      fs.writeFileSync(folder + '/left/behind', '');
      console.log(folder + '\\n1 passed, 0 failed')`;
    const { count } = await evaluate(code);
    expect(count).toMatchObject({ passed: 1, failed: 0 });
    const [folder = ''] = shown.join('').split('\n');
    expect(dirname(folder)).toBe(tmpdir());
    expect(existsSync(folder)).toBe(false);
  });

  it('is ended and fails when it hangs', async () => {
    const { count } = await evaluate('setInterval(() => {}, 1000)', {}, 200);
    expect(count.remarks[0]).toContain('hard time limit');
  });
});
