// `truemq top` against a dashboard that a test plays: on a terminal, through a pipe, and with what people type wrongly.

import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { testCommandContext } from '../testing/command-context.ts';
import {
  type FakeDashboardOptions,
  type FakeStream,
  liveChange,
  liveQueue,
  liveSnapshot,
  startFakeDashboard,
} from '../testing/fake-dashboard.ts';
import { FakeTerminal } from '../testing/fake-terminal.ts';
import { ExitCode } from './command.ts';
import { top } from './top.ts';

const LEAVE = '\u001b[?1049l';

const open: { readonly close: () => Promise<void> }[] = [];

afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

function sendTable({ send }: FakeStream): void {
  const queues = [liveQueue(1, 'orders'), liveQueue(2, 'mail')];
  send('snapshot', liveSnapshot(queues, [[1, 4, 0, 0, 0, 90_000, 0, 0, 0]]));
  send('change', liveChange([[1, 5, 0, 1, 1, 90_000, 0, 0, 0]]));
}

async function startDashboard(options: Partial<FakeDashboardOptions> = {}): Promise<string> {
  const dashboard = await startFakeDashboard({ onStream: sendTable, ...options });
  open.push(dashboard);
  return dashboard.url;
}

async function runTop(argv: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const context = testCommandContext(environment);
  const exitCode = await top.run(argv, context);
  return { exitCode, output: context.output(), errors: context.errors() };
}

describe('top through a pipe', () => {
  it('prints one table after the first change, without escape codes', async () => {
    const url = await startDashboard({ pathPrefix: '/mq/' });
    const { exitCode, output, errors } = await runTop([
      '--dashboard-url',
      url.slice(0, -1),
      '--sort',
      'name',
    ]);
    expect([exitCode, errors]).toEqual([ExitCode.Done, '']);
    expect(output.split('\n').map((line) => line.trimEnd())).toEqual([
      `truemq 9.9.9  healthy  ${url}`,
      'connections 12  memory 32.0 MiB of 512 MiB  queues 2  waiting 30  in flight 3',
      'published 1234/s  delivered 5.5/s  errors 0/s  latency p50 1.3 ms, p99 80 ms',
      '',
      'QUEUE             MODE        WAITING  IN FLIGHT    IN/S   OUT/S  OLDEST  SUBS  NOTE',
      'mail              RoundRobin        0          0       0       0       -     0',
      'orders            RoundRobin        5          0     1.0     1.0     11s     0  no subscribers',
      '',
    ]);
  });

  it('fails when the stream ends before a change', async () => {
    const url = await startDashboard({
      onStream: ({ send, end }) => {
        send('snapshot', liveSnapshot([], []));
        end();
      },
    });
    const { exitCode, errors } = await runTop(['--once', '--dashboard-url', url]);
    expect([exitCode, errors]).toEqual([
      ExitCode.Failed,
      `truemq: no figures from ${url}: the broker closed the connection\ntruemq:   does a broker run there with its dashboard on? --dashboard-url says where\n`,
    ]);
  });

  it('ends with 0 when it is stopped', async () => {
    const context = testCommandContext();
    const connected = new Promise<FakeStream>((resolve) => {
      void startDashboard({ onStream: resolve }).then((url) => {
        ended = top.run(['--dashboard-url', url], context);
      });
    });
    let ended: Promise<ExitCode> | undefined;
    await connected;
    context.signal('SIGTERM');
    expect(await ended).toBe(ExitCode.Done);
  });
});

describe('top and credentials', () => {
  it('takes the password from the environment, a file or the terminal, and shows it nowhere [AUTH-054]', async () => {
    const url = await startDashboard({ credentials: 'admin:secret' });
    const argv = ['--dashboard-url', url, '--username', 'admin'];
    const file = join(tmpdir(), `truemq-top-${process.pid}`);
    await writeFile(file, 'secret\n', { mode: 0o600 });
    const context = { ...testCommandContext(), askSecret: async () => 'secret' };
    const runs = [
      await runTop(argv, { TRUEMQ_PASSWORD: 'secret' }),
      await runTop([...argv, '--password-file', file]),
      { exitCode: await top.run(argv, context), output: context.output(), errors: context.errors() },
    ];
    for (const { exitCode, output, errors } of runs) {
      expect(exitCode).toBe(ExitCode.Done);
      expect(output + errors).not.toContain('secret');
    }
  });

  it('takes the address of the dashboard from the environment, which a flag overrides', async () => {
    const environment = { TRUEMQ_DASHBOARD_URL: await startDashboard() };
    expect((await runTop(['--once'], environment)).exitCode).toBe(ExitCode.Done);
    const other = await startDashboard({ pathPrefix: '/other/' });
    expect((await runTop(['--once', '--dashboard-url', other], environment)).output).toContain(other);
  });

  it('says that the dashboard asks for credentials, or refuses them', async () => {
    const url = await startDashboard({ credentials: 'admin:secret' });
    const without = await runTop(['--dashboard-url', url]);
    expect([without.exitCode, without.errors]).toEqual([
      ExitCode.Failed,
      `truemq: no figures from ${url}: the dashboard asks for a name and a password\n` +
        'truemq:   --username with TRUEMQ_PASSWORD or --password-file says who asks\n',
    ]);
    const wrong = await runTop(['--dashboard-url', url, '--username', 'admin'], { TRUEMQ_PASSWORD: 'wrong' });
    expect([wrong.exitCode, wrong.errors]).toEqual([
      ExitCode.Failed,
      `truemq: the dashboard at ${url} refuses this name or password\n`,
    ]);
  });
});

describe('a command line of top', () => {
  it.each([
    [
      ['--dashboard-url', 'ftp://x/'],
      '--dashboard-url: came "ftp://x/"; allowed is an address like http://127.0.0.1:12925/',
    ],
    [['--dashboard-url', 'http://'], '--dashboard-url: came "http://"'],
    [['--dashboard-url', 'http://x/?a'], '--dashboard-url: came'],
    [
      ['--dashboard-url', 'http://admin:secret@x/'],
      '--dashboard-url: contains a name or a password; --username says who asks',
    ],
    [['--sort', 'size'], '--sort: came "size"; allowed is name, waiting, inflight, in, out, oldest'],
    [['--username', 'a:b'], '--username: a name with a colon'],
    [['--username', 'a', '--password-file', '/nothing'], '--password-file: /nothing'],
    [['queue'], '"queue": one argument too many'],
  ])('%j is refused', async (argv, message) => {
    await expect(runTop(argv, { TRUEMQ_PASSWORD: 'p' })).rejects.toThrow(message);
  });
});

describe('top on a terminal', () => {
  async function startOnTerminal() {
    const terminal = new FakeTerminal();
    const streams: FakeStream[] = [];
    const url = await startDashboard({
      onStream: (stream) => {
        streams.push(stream);
        sendTable(stream);
      },
    });
    const context = { ...testCommandContext(), terminal };
    const ended = top.run(['--dashboard-url', url], context);
    await terminal.shows('11s');
    return { terminal, streams, context, ended };
  }

  it.each([
    ['q', ({ terminal }: { terminal: FakeTerminal }) => void terminal.input.write('q')],
    ['Ctrl-C', ({ terminal }: { terminal: FakeTerminal }) => void terminal.input.write('\u0003')],
    [
      'SIGTERM',
      ({ context }: { context: ReturnType<typeof testCommandContext> }) => context.signal('SIGTERM'),
    ],
    ['SIGHUP', ({ context }: { context: ReturnType<typeof testCommandContext> }) => context.hangUp()],
    ['the end of its input', ({ terminal }: { terminal: FakeTerminal }) => void terminal.input.end()],
  ])('ends with 0 by %s, and the terminal is as before', async (_, quit) => {
    const run = await startOnTerminal();
    quit(run);
    expect(await run.ended).toBe(ExitCode.Done);
    expect(run.terminal.written().endsWith(LEAVE)).toBe(true);
    expect(run.terminal.modes).toEqual([true, false]);
    expect(run.terminal.exitHandlerCount).toBe(0);
  });

  it('obeys keys, and draws anew when its size changes', async () => {
    const { terminal, ended } = await startOnTerminal();
    terminal.clear();
    terminal.input.write('n');
    await terminal.shows('by name');
    terminal.clear();
    terminal.resize(40, 12);
    await terminal.shows('QUEUE');
    expect(terminal.written()).not.toContain('OLDEST');
    terminal.input.write('q');
    await ended;
  });

  it('keeps the table and says why there is no connection, and shows the next one', async () => {
    const { terminal, streams, ended } = await startOnTerminal();
    terminal.clear();
    streams[0]?.end();
    await terminal.shows('no connection for 0 s: the broker closed the connection');
    expect(terminal.written()).toContain('orders');
    terminal.clear();
    await terminal.shows('healthy');
    expect(streams).toHaveLength(2);
    terminal.input.write('q');
    await ended;
  });

  it('leaves the terminal alone when there is no connection', async () => {
    const terminal = new FakeTerminal();
    const url = await startDashboard();
    const context = { ...testCommandContext(), terminal };
    expect(await top.run(['--dashboard-url', `${url}x`], context)).toBe(ExitCode.Failed);
    expect([terminal.written(), terminal.modes]).toEqual(['', []]);
    expect(context.errors()).toContain('the answer has status 404');
  });

  it('gives the terminal back when drawing fails', async () => {
    const { terminal, ended } = await startOnTerminal();
    Object.defineProperty(terminal.output, 'columns', {
      get: () => {
        throw new Error('a fault');
      },
    });
    terminal.output.emit('resize');
    await expect(ended).rejects.toThrow('a fault');
    expect(terminal.modes).toEqual([true, false]);
  });
});
