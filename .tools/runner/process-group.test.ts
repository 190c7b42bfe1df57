// Processes that start others, and hang or are left.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { execa } from 'execa';
import { expect, it, onTestFinished } from 'vitest';
import { asGroup, endOfGroup } from './process-group.ts';

// The child holds the output open: who reads it to its end waits for the child too.
const hangsWithChild = `const { spawn } = require('node:child_process');
const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
child.once('spawn', () => console.log('started'));`;

function start(code: string) {
  return execa(process.execPath, ['-e', code], { ...asGroup, reject: false, stdin: 'ignore' });
}

it('ends a process at its limit, and what that has started', async () => {
  const leader = start(hangsWithChild);
  await once(leader.stdout, 'data');
  const { ended, isOverdue } = await endOfGroup(leader, 100);
  expect(isOverdue).toBe(true);
  expect(ended.signal).toBe('SIGKILL');
});

it('ends them when the process that waits for them ends', async () => {
  const waits = `import { execa } from 'execa';
    import { asGroup, endOfGroup } from './.tools/runner/process-group.ts';
    const leader = execa(process.execPath, ['-e', ${JSON.stringify(hangsWithChild)}], { ...asGroup, reject: false, stdout: ['pipe', 'inherit'] });
    leader.stdout.once('data', () => process.exit(7));
    await endOfGroup(leader, 60_000);`;
  const { exitCode, stdout } = await execa(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '-e', waits],
    { reject: false, stdin: 'ignore' },
  );
  expect(stdout).toBe('started');
  expect(exitCode).toBe(7);
});

it('gives the result of a process that ends in time', async () => {
  const { ended, isOverdue } = await endOfGroup(start('process.exit(3)'), 60_000);
  expect(ended.exitCode).toBe(3);
  expect(isOverdue).toBe(false);
});

it('ends what a process leaves behind that ends in time', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const child = `require('node:net').connect(${port}, '127.0.0.1', () => process.send('connected'))`;
  const leaves = `const { spawn } = require('node:child_process');
    const child = spawn(process.execPath, ['-e', ${JSON.stringify(child)}], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    child.once('message', () => process.exit(0));`;
  const connected = once(server, 'connection');
  const { ended, isOverdue } = await endOfGroup(start(leaves), 60_000);
  expect(ended.exitCode).toBe(0);
  expect(isOverdue).toBe(false);
  const [socket] = (await connected) as [Socket];
  socket.on('error', () => {}).resume();
  await once(socket, 'close');
});
