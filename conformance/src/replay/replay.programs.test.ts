// Traces are sent again, to a broker that does the same and to ones that do not.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Check } from '../check.ts';
import { replayCommand } from '../commands/replay.ts';
import { runSuite } from '../engine/suite.ts';
import { recordedFrames, tinyCatalogue, tinyCheck, tinyOptions, tinyTarget } from '../testing/tiny-target.ts';
import type { TraceFile } from '../trace-file.ts';
import { traceFile } from '../trace-file.ts';
import { compressedFrame } from '../wire/compression.ts';
import { encodeBody, encodeFrame } from '../wire/encode.ts';
import { idsIn, substitution } from './substitution.ts';

const folder = mkdtempSync(join(tmpdir(), 'truemq-replay-'));

const pings = tinyCheck('CONN-001a', async (ctx) => {
  const [one, two] = [await ctx.connect(), await ctx.connect()];
  await one.publish(ctx.queue('orders'), '{"n":1}');
  await two.ping();
  ctx.assert.equal((await one.ping()).commandName, 'Pong', 'the answer to Ping');
});

async function recorded(check: Check): Promise<TraceFile> {
  const sources = { catalogue: tinyCatalogue([check]), golden: recordedFrames() };
  const report = await runSuite(sources, tinyOptions(), () => {});
  const [result] = report.results;
  if (result === undefined) throw new Error('the check did not run');
  return traceFile(result, { target: report.target, seed: report.seed });
}

async function replay(
  file: unknown,
  environment: Readonly<Record<string, string>> = {},
): Promise<{ readonly exitCode: number; readonly text: string }> {
  const [tracePath, targetPath] = [join(folder, 'trace.json'), join(folder, 'target.json')];
  writeFileSync(tracePath, typeof file === 'string' ? file : JSON.stringify(file));
  writeFileSync(targetPath, JSON.stringify(tinyTarget(environment)));
  const lines: string[] = [];
  const line = (text: string): void => void lines.push(text);
  const terminal = { out: line, err: line, color: false };
  const sources = { catalogue: tinyCatalogue([pings]), golden: recordedFrames() };
  const args = [tracePath, '--target', targetPath, '--timeout-scale', '0.1'];
  const exitCode = await replayCommand(args, sources, terminal);
  return { exitCode, text: lines.join('\n') };
}

function withEvent(file: TraceFile, text: string, more: object): TraceFile {
  const events = file.events.map((event) => (event.text.startsWith(text) ? { ...event, ...more } : event));
  return { ...file, events };
}

describe('replay', () => {
  it('ends with 0 when everything comes as it was recorded', async () => {
    const { exitCode, text } = await replay(await recorded(pings));
    expect(text).toContain('the same: 5 frames came as recorded, 5 were sent, on 2 connections');
    expect(exitCode).toBe(0);
  });

  it('ends with 1 and shows both sides when something else comes', async () => {
    const file = await recorded(pings);
    const pong = file.events.findLast(({ text }) => text.startsWith('Pong'));
    const id = /id=(\S+)/.exec(pong?.text ?? '')?.[1] ?? '';
    const error = encodeFrame({ command: 99, id, errorCode: 'SERVER_ERROR', errorMessage: 'no' });
    const changed = withEvent(file, `Pong id=${id}`, { hex: error.toString('hex') });
    const { exitCode, text } = await replay(changed);
    expect(exitCode).toBe(1);
    expect(text).toMatch(/it differs at event \d+ of \d+, on connection A, in command/);
    expect(text).toMatch(/Error id=.* \| Pong id=/);
  });

  it('ends with 1 when something comes that was not recorded', async () => {
    const file = await recorded(pings);
    const events = file.events.filter(({ text }) => !text.startsWith('PublishAck'));
    const last = events.at(-1);
    const late = last === undefined ? [] : [{ ...last, atMs: last.atMs + 400 }];
    const { exitCode, text } = await replay({ ...file, events: [...events.slice(0, -1), ...late] });
    expect(exitCode).toBe(1);
    expect(text).toMatch(/nothing +\| PublishAck id=/);
  });

  it('ends with 1 when a recorded frame does not come', async () => {
    const file = await recorded(pings);
    const [ack] = file.events.filter(({ text }) => text.startsWith('PublishAck'));
    const events = file.events.flatMap((event) => (event === ack ? [event, event] : [event]));
    const { exitCode, text } = await replay({ ...file, events });
    expect(exitCode).toBe(1);
    expect(text).toContain('nothing that fits within');
  });

  it('ends with 4 when the broker dies, or does not start', async () => {
    const file = await recorded(pings);
    expect(await replay(file, { TINY_DIE_ON: '10' })).toMatchObject({ exitCode: 4 });
    expect(await replay(file, { TINY_REFUSE: 'not today' })).toMatchObject({ exitCode: 4 });
  });

  it('refuses what is no trace, or not a whole one', async () => {
    const file = await recorded(pings);
    await expect(replay('{}')).rejects.toThrow('is not valid');
    await expect(replay(withEvent(file, 'Publish ', { cut: true }))).rejects.toThrow('not complete');
  });
});

describe('substitution', () => {
  const substitute = substitution('abc.conn-001a', 'xyz.conn-001a');
  const frame = {
    command: 20,
    id: 'abc.conn-001a.m-1',
    queue: 'abc.conn-001a.q',
    payload: '"abc.conn-001a.q"',
  };
  const other = {
    command: 20,
    id: 'xyz.conn-001a.m-1',
    queue: 'xyz.conn-001a.q',
    payload: '"xyz.conn-001a.q"',
  };

  it('replaces names wherever they stand, in half a frame too', () => {
    expect(substitute(encodeFrame(frame))).toEqual(encodeFrame(other));
    expect(substitute(encodeFrame(frame).subarray(0, 28))).toEqual(encodeFrame(other).subarray(0, 28));
  });

  it('replaces them in compressed frames', () => {
    const compressed = substitute(compressedFrame(encodeBody(frame), 'gzip'));
    expect(idsIn(compressed)).toEqual([{ command: 20, id: other.id, queue: other.queue }]);
  });

  it('refuses names of another length', () => {
    expect(() => substitution('a', 'ab')).toThrow('different length');
  });
});
