// The replay command: a trace that a run wrote is played on the same broker, which does the same, and on brokers with one fault, which do
// not. What cannot be replayed is refused before a broker is started.
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { main } from '../cli/main.ts';
import { ProbeClient } from '../observation/probe-client.ts';
import { redactor } from '../report/redaction.ts';
import { spawnBroker } from '../target/broker.ts';
import type { Target } from '../target/target-file.ts';
import { targetWith } from '../testing/doctor.ts';
import { tinyTarget } from '../testing/tiny-target.ts';
import { timingFor } from '../timing.ts';
import type { TraceFile } from '../trace-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'truemq-replay-test-'));
const delivery = 'DELIVERY-001a';
let trace: TraceFile;

beforeAll(async () => {
  const out = join(folder, 'out');
  const target = written('healthy.json', targetWith('none'));
  const profiles = ['--profile', 'core,delivery'];
  await command('run', '--target', target, ...profiles, '--only', delivery, '--trace', 'all', '--out', out);
  trace = JSON.parse(readFileSync(join(out, 'traces', `${delivery}.json`), 'utf8'));
}, 60_000);

afterAll(() => rmSync(folder, { recursive: true }));

type Ended = { readonly exitCode: number; readonly out: string; readonly err: string };

async function command(...args: readonly string[]): Promise<Ended> {
  return interruptible(new AbortController().signal, ...args);
}

async function interruptible(signal: AbortSignal, ...args: readonly string[]): Promise<Ended> {
  const out: string[] = [];
  const err: string[] = [];
  const terminal = {
    out: (line: string) => void out.push(line),
    err: (line: string) => void err.push(line),
    color: false,
  };
  const exitCode = await main(args, terminal, signal);
  return { exitCode, out: out.join('\n'), err: err.join('\n') };
}

function written(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

function replayOn(target: Target, content: unknown = trace, ...flags: readonly string[]): Promise<Ended> {
  const paths = [written('trace.json', content), '--target', written('target.json', target)];
  return command('replay', ...paths, ...flags);
}

describe('replay', () => {
  it('ends with 0 when everything comes as in the trace', async () => {
    const { exitCode, out } = await replayOn(targetWith('none'));
    expect(exitCode, out).toBe(0);
    expect(out).toContain(`${trace.events.length} events, all as in the trace`);
    expect(out).not.toContain('!');
  });

  it('prints every event with --all', async () => {
    const { out } = await replayOn(targetWith('none'), trace, '--all');
    for (const { text } of trace.events) expect(out).toContain(text.slice(0, 40));
  });

  it('says how many frames went out as redactions have left them, and compares only the commands of others', async () => {
    const redacted = redactor(['sentin(?=el")', 'messageCoun(?=t)'])(trace);
    const { exitCode, out } = await replayOn(targetWith('none'), redacted);
    expect(exitCode, out).toBe(0);
    expect(out).toContain('note: 1 frame sent with what redactions had blacked out');
    const changed = redacted.events.filter((event) => event.redacted === true).map(({ text }) => text);
    expect(changed).toContainEqual(expect.stringMatching(/^QueueInfo .*\[redacted\]t"/));
  });

  it('refuses credentials for a broker that it starts', async () => {
    const token = written('token', 'secret');
    const { exitCode, err } = await replayOn(targetWith('none'), trace, '--token-file', token);
    expect(exitCode).toBe(2);
    expect(err).toContain('with lifecycle.kind "spawn" the runner chooses those of the broker itself');
  });

  it('ends with 1, and shows what did not come', async () => {
    const { exitCode, out } = await replayOn(targetWith('no-delivery'), trace, '--timeout-scale', '0.1');
    expect(exitCode, out).toBe(1);
    expect(out).toMatch(/^! .* A <- Deliver .*\n {3}now: no matching frame within \d+ ms$/m);
    expect(out).toMatch(/with no-delivery: \d+ differences to the trace/);
  });

  it('shows what differs in a frame', async () => {
    const changed = { ...trace, events: trace.events.map(withOtherPayload) };
    const { exitCode, out } = await replayOn(targetWith('none'), changed);
    expect(exitCode, out).toBe(1);
    expect(out).toMatch(
      /^! .* <- Deliver .*\n {3}now: payload: "\\"sentinel\\"" instead of "\\"centinel\\""$/m,
    );
    expect(out).toContain('1 difference to the trace');
  });

  it('shows frames that the trace does not have', async () => {
    const events = trace.events.filter(
      ({ kind, text }) => kind !== 'received' || !text.startsWith('CreateQueue'),
    );
    const { exitCode, out } = await replayOn(targetWith('none'), { ...trace, events });
    expect(exitCode, out).toBe(1);
    expect(out).toMatch(/^! {2}left over: [A-Z] <- CreateQueue /m);
  });

  it('finds nothing of an earlier replay on an attached broker, and leaves no queue there', async () => {
    const { lifecycle } = targetWith('none');
    if (lifecycle.kind !== 'spawn') throw new Error('the broker is spawned');
    const broker = await spawnBroker(lifecycle, {}, timingFor(1));
    const { tcp } = broker.endpoints;
    const client = new ProbeClient({ tcp, timing: timingFor(1), name: 'test' });
    const connection = await client.connect();
    const queue = `${trace.names}.settled`;
    await connection.createQueue(queue);
    await connection.publish(queue, '"of an earlier replay"');
    const attached: Target = { schema: 1, name: 'a', lifecycle: { kind: 'attach' }, endpoints: { tcp } };
    const { exitCode, out } = await replayOn(attached);
    const info = await connection.queueInfo(queue);
    client.close();
    await broker.dispose();
    expect({ exitCode, info }, out).toEqual({ exitCode: 0, info: undefined });
  });

  it('is content with a broker that is faster than the one of the trace was', async () => {
    const at = trace.events.findIndex(
      ({ kind, text }) => kind === 'received' && text.startsWith('QueueInfo'),
    );
    const [sent, answer] = trace.events.slice(at - 1, at + 1);
    if (sent === undefined || answer === undefined) throw new Error('the check asks for the queue');
    const hex = answer.hex.replace(hexOf('"messageCount":0'), hexOf('"messageCount":7'));
    const events = [
      ...trace.events.slice(0, at - 1),
      sent,
      { ...answer, hex },
      ...trace.events.slice(at - 1),
    ];
    expect(hex).not.toBe(answer.hex);
    const { exitCode, out } = await replayOn(targetWith('none'), { ...trace, events });
    expect(exitCode, out).toBe(0);
  });

  it('makes the handshake of a connection that the trace does not open', async () => {
    const events = trace.events.filter(({ kind, text }) => kind !== 'opened' && !text.startsWith('Connect'));
    const { exitCode, out } = await replayOn(targetWith('none'), { ...trace, events });
    expect(exitCode, out).toBe(0);
    expect(events.length).toBeLessThan(trace.events.length - 2);
  });

  it('ends with 4 when the broker ends', async () => {
    const { exitCode, err } = await replayOn(
      tinyTarget({ TINY_DIE_ON: '22' }),
      trace,
      '--timeout-scale',
      '0.1',
    );
    expect({ exitCode, err }).toEqual({
      exitCode: 4,
      err: 'truemq-conformance: the broker ended: exit code 7',
    });
  });

  it('ends with 4 when the broker does not start', async () => {
    const { exitCode, err } = await replayOn(tinyTarget({ TINY_REFUSE: 'not today' }));
    expect(exitCode).toBe(4);
    expect(err).toContain('not today');
  });

  it('ends with 5 when it is interrupted, and closes its connections', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const endpoints = { tcp: { host: '127.0.0.1', port } };
    const target: Target = { schema: 1, name: 'a', lifecycle: { kind: 'attach' }, endpoints };
    const { names: _names, ...nameless } = trace;
    const slow = nameless.events.map((event, index) => ({ ...event, atMs: index * 60_000 }));
    const paths = [
      written('slow.json', { ...nameless, events: slow }),
      '--target',
      written('a.json', target),
    ];
    const interrupt = new AbortController();
    const sockets: Socket[] = [];
    server.on('connection', (socket) => {
      sockets.push(socket.on('error', () => {}).resume());
      // The first is the test whether anybody listens.
      if (sockets.length === 2) interrupt.abort();
    });
    const ended = await interruptible(interrupt.signal, 'replay', ...paths);
    expect(ended).toMatchObject({ exitCode: 5, err: 'truemq-conformance: interrupted' });
    await expect.poll(() => sockets.every((socket) => socket.destroyed)).toBe(true);
    server.close();
  });
});

/** The payload of the last message, in the frame that came. */
function withOtherPayload(event: TraceFile['events'][number]): TraceFile['events'][number] {
  if (event.kind !== 'received' || !event.text.startsWith('Deliver')) return event;
  const hex = event.hex.replace(hexOf('"sentinel"'), hexOf('"centinel"'));
  return { ...event, hex };
}

function hexOf(text: string): string {
  return Buffer.from(text).toString('hex');
}

describe('replay refuses', () => {
  it.each<[string, (valid: TraceFile) => unknown, string]>([
    ['what is not JSON', () => 'no trace', 'trace.json is not JSON: '],
    ['what is not a trace', () => ({ schema: 1 }), 'trace.json is not a trace:\n  check is missing'],
    ['a trace that misses bytes', (valid) => ({ ...valid, complete: false }), 'complete: false'],
    [
      'a trace in which the broker sends nothing',
      (valid) => ({ ...valid, events: valid.events.filter(({ kind }) => kind === 'opened') }),
      'nothing to compare',
    ],
    ['a trace without events', (valid) => ({ ...valid, events: [] }), 'nothing to compare'],
    ['a check that it does not know', (valid) => ({ ...valid, check: 'FRAME-999a' }), 'no check FRAME-999a'],
    [
      'a check that stops its broker',
      (valid) => ({ ...valid, check: 'DURABLE-003d' }),
      'run --target FILE --only',
    ],
  ])('%s', async (_what, change, text) => {
    const { exitCode, err } = await replayOn(tinyTarget({ TINY_REFUSE: 'not reached' }), change(trace));
    expect(err).toContain(text);
    expect(exitCode).toBe(2);
  });

  it.each([
    [['replay'], 'replay needs one trace'],
    [['replay', 'a.json', 'b.json'], 'replay needs one trace'],
    [['replay', 'a.json'], '--target FILE is missing'],
    [['replay', 'no-such-trace.json', '--target', 'x'], 'trace no-such-trace.json cannot be read'],
  ])('%o', async (args, text) => {
    expect(await command(...args)).toMatchObject({ exitCode: 2, err: expect.stringContaining(text) });
  });

  it('a broker without the settings of the check', async () => {
    const { exitCode, err } = await replayOn(tinyTarget({ TINY_UNSUPPORTED: 'tls' }), {
      ...trace,
      check: 'TLS-001a',
    });
    expect({ exitCode, err }).toEqual({
      exitCode: 2,
      err: 'truemq-conformance: TLS-001a: the adapter does not support tls.certificatePath, tls.keyPath',
    });
  });
});
