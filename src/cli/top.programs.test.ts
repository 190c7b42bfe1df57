// `truemq top` as a process, through pipes: what it prints and how it ends.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import {
  type FakeDashboardOptions,
  liveChange,
  liveQueue,
  liveSnapshot,
  startFakeDashboard,
} from '../testing/fake-dashboard.ts';
import { truemqProgram } from '../testing/truemq-program.ts';

/** Runs the command against a dashboard that serves each stream with `onStream`. */
async function runTop(
  onStream: FakeDashboardOptions['onStream'],
  whileRunning: (stop: () => void) => void = () => undefined,
) {
  let stop: () => void = () => undefined;
  const dashboard = await startFakeDashboard({
    onStream: (stream) => {
      onStream(stream);
      whileRunning(stop);
    },
  });
  const process_ = spawn(process.execPath, [...truemqProgram, 'top', '--dashboard-url', dashboard.url]);
  stop = () => void process_.kill('SIGTERM');
  let output = '';
  for (const stream of [process_.stdout, process_.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
    });
  }
  const [exitCode] = await once(process_, 'close');
  await dashboard.close();
  return { exitCode, output };
}

it('prints one table as plain text and ends with 0', async () => {
  const { exitCode, output } = await runTop(({ send }) => {
    send('snapshot', liveSnapshot([liveQueue(1, 'bad\u001b[2Jname')], []));
    send('change', liveChange([[1, 7, 0, 0, 0, 100_000, 1, 0, 0]]));
  });
  expect(exitCode).toBe(0);
  expect(output).toMatch(/^bad\\x1b\[2Jname +RoundRobin +7 /m);
  expect(output.includes('\u001b')).toBe(false);
});

it('ends with 1 when the stream ends without figures', async () => {
  const { exitCode, output } = await runTop(({ end }) => end());
  expect(exitCode).toBe(1);
  expect(output).toContain('the broker closed the connection');
});

it('ends with 0 on SIGTERM', async () => {
  const { exitCode, output } = await runTop(
    ({ send }) => send('snapshot', liveSnapshot([], [])),
    (stop) => stop(),
  );
  expect([exitCode, output]).toEqual([0, '']);
});
