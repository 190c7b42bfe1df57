// The doctor, at one adapter for each mistake: it must name that mistake and no other, say nothing at the healthy one, and leave nothing
// running. The deadlines are a fifth of the usual ones, except at the port that is open late, where a busy machine must make no difference.
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { main } from '../cli/main.ts';
import { mistakes } from '../doctor/finding.ts';
import { spawnBroker } from '../target/broker.ts';
import { unreachableReason } from '../target/listening.ts';
import type { Target } from '../target/target-file.ts';
import { doctor, targetWith } from '../testing/doctor.ts';
import { freePort } from '../testing/free-port.ts';
import { timingFor } from '../timing.ts';

describe('doctor', () => {
  it('finds nothing at a healthy broker, with exit code 0', async () => {
    const { exitCode, named, text } = await doctor(targetWith('none'));
    expect({ exitCode, named }, text).toEqual({ exitCode: 0, named: [] });
    for (const step of [
      'start',
      'handshake',
      'commands',
      'delivery',
      'ack',
      'health',
      'stop',
      'start again',
      'data',
      'end of input',
    ])
      expect(text).toMatch(new RegExp(`^ok +${step} `, 'm'));
    expect(text).toContain('no mistakes found');
  });

  it('finds nothing at a broker that writes JSON in its own way', async () => {
    const { exitCode, named, text } = await doctor(targetWith('respaced'));
    expect({ exitCode, named }, text).toEqual({ exitCode: 0, named: [] });
  });

  it.each([
    ['stdout-text', 'stdout-text', 'not JSON .* broker starting, please wait'],
    ['port-closed', 'port-closed', 'no process listens at 127.0.0.1'],
    ['little-endian', 'length-prefix', 'is little-endian'],
    ['counts-itself', 'length-prefix', 'counts its own four bytes too'],
    ['no-prefix', 'length-prefix', 'is missing'],
    ['answer-id', 'answer-id', 'its answer is PublishAck id=ack-1'],
    ['flushes-later', 'not-flushed', 'came only after a Ping was sent too'],
    ['flushes-at-close', 'not-flushed', 'came only after the client had closed'],
    [
      'publish-unanswered',
      'no-answer',
      'the answer to publish did not come .* a Ping that was sent later was answered',
    ],
    ['no-delivery', 'not-delivered', 'QueueInfo says messageCount 1, subscriberCount 1'],
    ['delivery-late', 'not-flushed', 'the delivery of .* came only after a Ping was sent too: Deliver'],
    ['other-content', 'delivery-differs', 'the payload is another JSON value'],
    ['other-id', 'delivery-differs', 'the id is wrong'],
    ['ack-ignored', 'ack-ignored', 'was delivered to the next subscriber again'],
    ['ack-uncounted', 'ack-ignored', 'both messages were acknowledged, and QueueInfo says messageCount 2'],
    ['credentials', 'credentials', 'AUTH_REQUIRED'],
    ['health-path', 'health-path', 'but http.*/api/health has a health record'],
    ['data-lost', 'data-lost', 'its queue is not there'],
    ['ignores-stop', 'ignores-stop', 'still ran, and was killed'],
    ['outlives-input', 'outlives-input', 'after the end of standard input the broker still ran'],
  ])('names the mistake of an adapter with %s: %s', async (mistake, name, seen) => {
    const { exitCode, named, text } = await doctor(targetWith(mistake));
    expect({ exitCode, named }, text).toEqual({ exitCode: 1, named: [name] });
    expect(text).toMatch(new RegExp(`seen: .*${seen}`));
    expect(text).toContain('  do:   ');
  });

  it('names the mistake of an adapter that answers before its port is open', async () => {
    const { exitCode, named, text } = await doctor(targetWith('answers-early'), '1');
    expect({ exitCode, named }, text).toEqual({ exitCode: 1, named: ['port-closed'] });
    expect(text).toMatch(/seen: .*could be reached only/);
  });
});

describe('doctor ends with', () => {
  it('2 for credentials for a broker that it starts', async () => {
    onTestFinished(() => void vi.unstubAllEnvs());
    vi.stubEnv('CONFORMANCE_TOKEN', 'secret');
    const { exitCode, text } = await doctor(targetWith('none'));
    expect(exitCode, text).toBe(2);
    expect(text).toContain('with lifecycle.kind "spawn" the runner chooses those of the broker itself');
  });

  it.each([
    ['no such program', ['/no/such/program'], 'cannot be started'],
    ['an adapter that ends', [process.execPath, '-e', ''], 'ended before it answered'],
  ])('4 for %s', async (_title, command, text) => {
    const target: Target = { schema: 1, name: 'x', lifecycle: { kind: 'spawn', command } };
    expect(await doctor(target)).toMatchObject({ exitCode: 4, text: expect.stringContaining(text) });
  });

  it('4, with a log that no terminal and no CI system carries out, and without secrets', async () => {
    const words = '::error::owned\\n\\u001b[2J it is hunter2';
    const command = [process.execPath, '-e', `console.error("${words}"); process.exitCode = 3`];
    const lifecycle = { kind: 'spawn', command } as const;
    const target: Target = { schema: 1, name: 'x', lifecycle, redactions: ['hunter2'] };
    const { exitCode, text } = await doctor(target);
    expect(exitCode).toBe(4);
    expect(text).toContain('    | ::error::owned\n    | \\u001b[2J it is [redacted]');
    expect(text).not.toMatch(/^\s*::|hunter2/m);
  });

  it('4 when nobody runs where it is attached to', async () => {
    const tcp = { host: '127.0.0.1', port: await freePort() };
    const target: Target = { schema: 1, name: 'x', lifecycle: { kind: 'attach' }, endpoints: { tcp } };
    expect(await doctor(target)).toMatchObject({ exitCode: 4, named: ['unreachable'] });
  });

  it('0 at an attached broker, which it leaves running and clean', async () => {
    const { lifecycle } = targetWith('none');
    if (lifecycle.kind !== 'spawn') throw new Error('the healthy broker is spawned');
    const broker = await spawnBroker(lifecycle, {}, timingFor(1));
    const target: Target = {
      schema: 1,
      name: 'x',
      lifecycle: { kind: 'attach' },
      endpoints: broker.endpoints,
    };
    expect(await doctor(target)).toMatchObject({ exitCode: 0, named: [] });
    expect(broker.unwantedEnd).toBeUndefined();
    await broker.dispose();
  });

  it('1 for a stop hook that stops nothing, of a broker that nothing else can end', async () => {
    const tcp = { host: '127.0.0.1', port: await freePort() };
    const tiny = fileURLToPath(new URL('../testing/tiny-broker.mjs', import.meta.url));
    const start = `'${process.execPath}' '${tiny}' & while [ ! -s "$CONFORMANCE_DATA_DIRECTORY/pid" ]; do sleep 0.02; done`;
    const lifecycle = { kind: 'hooks', start, stop: 'true' } as const;
    const { exitCode, text } = await doctor({ schema: 1, name: 'x', lifecycle, endpoints: { tcp } });
    expect({ exitCode, text }).toEqual({
      exitCode: 1,
      text: expect.stringContaining('cannot be killed: the target has no crash hook'),
    });
    await expect.poll(() => unreachableReason(tcp, 1000), { timeout: 10_000 }).toBeDefined();
  });

  it('2 without a target', async () => {
    const lines: string[] = [];
    const say = (line: string): void => void lines.push(line);
    const terminal = { out: say, err: say, color: false };
    expect(await main(['doctor'], terminal, new AbortController().signal)).toBe(2);
    expect(lines.join()).toContain('--target FILE is missing');
  });
});

it('has a remedy for each mistake', () => {
  for (const { title, remedy } of Object.values(mistakes))
    expect(title.length * remedy.length).toBeGreaterThan(0);
});
