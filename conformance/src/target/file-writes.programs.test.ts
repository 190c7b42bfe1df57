// Writes of a process and of its child that fail on command, and succeed again.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { setFileWrites } from './file-writes.ts';
import { LogTail } from './log-tail.ts';
import { ProcessGroup } from './process-group.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'file-writes-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Appends to a file for each line that it reads, and says what came of it; so does its child. */
const writes = `const { spawn } = require('node:child_process');
const { appendFileSync } = require('node:fs');
const { createInterface } = require('node:readline');
const [name, ...children] = process.argv.slice(1);
const child = children.length > 0 && spawn(process.execPath, ['-e', process.env.WRITES, ...children], { stdio: ['pipe', 'inherit', 'inherit'] });
createInterface({ input: process.stdin }).on('line', (line) => {
  if (child) child.stdin.write(line + '\\n');
  let outcome = 'written';
  try { appendFileSync(process.env.FOLDER + '/' + name, line); } catch (error) { outcome = error.code; }
  console.log(name + ' ' + outcome);
}).on('close', () => child && child.stdin.end());`;

it('fail for all processes of the group, and for no other', async () => {
  const group = new ProcessGroup(
    {
      program: process.execPath,
      args: ['-e', writes, 'parent', 'child'],
      environment: { WRITES: writes, FOLDER: folder },
      children: 'end',
    },
    new LogTail(),
  );
  onTestFinished(() => group.kill());
  const lines = createInterface({ input: group.stdout })[Symbol.asyncIterator]();
  const tryToWrite = async (): Promise<readonly string[]> => {
    group.write('x');
    return [(await lines.next()).value, (await lines.next()).value].sort();
  };
  expect(await tryToWrite()).toEqual(['child written', 'parent written']);
  const isLinux = process.platform === 'linux';
  expect(await setFileWrites(group.processId ?? 0, false)).toBe(isLinux);
  const refused = ['child EFBIG', 'parent EFBIG'];
  expect(await tryToWrite()).toEqual(isLinux ? refused : ['child written', 'parent written']);
  expect(await setFileWrites(group.processId ?? 0, true)).toBe(isLinux);
  expect(await tryToWrite()).toEqual(['child written', 'parent written']);
});

it('cannot be refused to a group that has ended', async () => {
  const group = new ProcessGroup(
    { program: process.execPath, args: ['-e', ''], children: 'end' },
    new LogTail(),
  );
  await group.exit;
  expect(await setFileWrites(group.processId ?? 0, false)).toBe(false);
});
