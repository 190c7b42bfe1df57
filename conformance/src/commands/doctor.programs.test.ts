// The doctor, at one adapter for each mistake: it must name that mistake and no other, say nothing at the healthy one, and leave nothing
// running. The deadlines are a fifth of the usual ones, and a tenth where "too slow" is to be shown without much patience.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { main } from '../cli/main.ts';
import { examine } from '../doctor/examine.ts';
import { mistakes } from '../doctor/finding.ts';
import { spawnBroker } from '../target/broker.ts';
import { unreachable } from '../target/reach.ts';
import type { Target } from '../target/target-file.ts';
import { freePort } from '../testing/free-port.ts';
import { timingFor } from '../timing.ts';

const adapter = fileURLToPath(new URL('../testing/faulty-adapter.mjs', import.meta.url));
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'truemq-doctor-test-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

function targetWith(mistake: string): Target {
  const lifecycle = { kind: 'spawn', command: [process.execPath, adapter, mistake] } as const;
  return { schema: 1, name: `with ${mistake}`, lifecycle, profiles: ['durable'] };
}

async function doctor(target: Target, scale = '0.2') {
  const path = join(folder, 'target.json');
  writeFileSync(path, JSON.stringify(target));
  const lines: string[] = [];
  const say = (line: string): void => void lines.push(line);
  const args = ['doctor', '--target', path, '--timeout-scale', scale];
  const exitCode = await main(args, { out: say, err: say, color: false }, new AbortController().signal);
  const text = lines.join('\n');
  const named = [...text.matchAll(/^\[(.*?)\]/gm)].map((match) => match[1]);
  return { exitCode, named, text };
}

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
    expect(text).toContain('nothing was found');
  });

  it('finds nothing at a broker that writes JSON in its own way', async () => {
    const { exitCode, named, text } = await doctor(targetWith('respaced'));
    expect({ exitCode, named }, text).toEqual({ exitCode: 0, named: [] });
  });

  it.each([
    ['stdout-text', 'stdout-text', 'not JSON .* broker starting, please wait'],
    ['port-closed', 'port-closed', 'nobody listens at 127.0.0.1'],
    ['answers-early', 'port-closed', 'could be reached only'],
    ['little-endian', 'length-prefix', 'is little-endian'],
    ['counts-itself', 'length-prefix', 'counts its own four bytes too'],
    ['no-prefix', 'length-prefix', 'is missing'],
    ['answer-id', 'answer-id', 'its answer is PublishAck id=ack-1'],
    ['flushes-later', 'not-flushed', 'came only after a Ping was sent too'],
    ['flushes-at-close', 'not-flushed', 'came only after our side had closed'],
    [
      'publish-unanswered',
      'no-answer',
      'the answer to publish did not come .* a Ping that was sent later was answered',
    ],
    ['no-delivery', 'not-delivered', 'QueueInfo says messageCount 1, subscriberCount 1'],
    ['delivery-late', 'not-flushed', 'the delivery of .* came only after a Ping was sent too: Deliver'],
    ['other-content', 'delivery-differs', 'the payload is another JSON value'],
    ['other-id', 'delivery-differs', 'the id is another one'],
    ['ack-ignored', 'ack-ignored', 'was delivered to the next subscriber again'],
    ['ack-uncounted', 'ack-ignored', 'both messages were acknowledged, and QueueInfo says messageCount 2'],
    ['credentials', 'credentials', 'AUTH_REQUIRED'],
    ['health-path', 'health-path', 'but http.*/api/health has a health record'],
    ['data-lost', 'data-lost', 'its queue is not there'],
    ['ignores-stop', 'ignores-stop', 'still ran, and was killed'],
    ['outlives-input', 'outlives-input', 'after the end of standard input it still ran'],
    ['slow-answer', 'too-slow', 'use --timeout-scale'],
  ])('names the mistake of an adapter with %s: %s', async (mistake, name, seen) => {
    const scale = name === 'too-slow' ? '0.1' : '0.2';
    const { exitCode, named, text } = await doctor(targetWith(mistake), scale);
    expect({ exitCode, named }, text).toEqual({ exitCode: 1, named: [name] });
    expect(text).toMatch(new RegExp(`seen: .*${seen}`));
    expect(text).toContain('  do:   ');
  });

  it('names a start that is too slow', async () => {
    const timing = { ...timingFor(0.1), startMs: 500 };
    const { findings } = await examine({ target: targetWith('slow-start'), timing, timeoutScale: 0.1 });
    expect(findings).toEqual([{ mistake: 'too-slow', seen: expect.stringMatching(/^the start took/) }]);
  });

  it('does what it says: the scale that it names is enough', async () => {
    const { text } = await doctor(targetWith('slow-answer'), '0.1');
    const scale = Number(/use --timeout-scale (\d+(?:\.\d+)?)/.exec(text)?.[1]);
    const timing = timingFor(scale);
    const { findings } = await examine({ target: targetWith('slow-answer'), timing, timeoutScale: scale });
    expect(findings).toEqual([]);
  });
});

describe('doctor ends with', () => {
  it.each([
    ['no such program', ['/no/such/program'], 'cannot be started'],
    ['an adapter that ends', [process.execPath, '-e', ''], 'ended before it answered'],
  ])('4 for %s', async (_title, command, text) => {
    const target: Target = { schema: 1, name: 'x', lifecycle: { kind: 'spawn', command } };
    expect(await doctor(target)).toMatchObject({ exitCode: 4, text: expect.stringContaining(text) });
  });

  it('4 when nobody runs where it is attached to', async () => {
    const tcp = { host: '127.0.0.1', port: await freePort() };
    const target: Target = { schema: 1, name: 'x', lifecycle: { kind: 'attach' }, endpoints: { tcp } };
    expect(await doctor(target)).toMatchObject({ exitCode: 4, named: ['no-start'] });
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
    await expect.poll(() => unreachable(tcp, 1000), { timeout: 10_000 }).toBeDefined();
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
