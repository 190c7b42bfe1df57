// A trace keeps everything up to its limits, and marks where something is missing.
import { describe, expect, it } from 'vitest';
import traceSchema from '../schemas/trace.schema.json' with { type: 'json' };
import type { Schema } from './target/schema-check.ts';
import { schemaFaults } from './target/schema-check.ts';
import { Trace } from './trace.ts';
import { traceFile } from './trace-file.ts';

const event = { atMs: 1, connection: 'A', kind: 'sent', text: 'x' } as const;

describe('Trace', () => {
  it('keeps the bytes of large frames whole', () => {
    const trace = new Trace();
    trace.add(event, Buffer.alloc(1_048_576, 7));
    expect(trace.events[0]).toMatchObject({ byteCount: 1_048_576 });
    expect(trace.events[0]?.hex).toHaveLength(2 * 1_048_576);
    expect(trace.events[0]?.cut).toBeUndefined();
  });

  it('truncates and marks large frames when its space is used up, and keeps small frames', () => {
    const trace = new Trace();
    for (let count = 0; count < 5; count += 1) trace.add(event, Buffer.alloc(1_000_000));
    trace.add(event, Buffer.alloc(20));
    expect(trace.events.map(({ cut }) => cut)).toEqual([...Array(4).fill(undefined), true, undefined]);
    expect(trace.events[4]?.hex).toHaveLength(512);
  });

  it('drops the oldest events, and marks the oldest remaining event', () => {
    const trace = new Trace();
    for (let count = 0; count < 20_003; count += 1) trace.add(event);
    expect(trace.droppedCount).toBe(3);
    expect(trace.events).toHaveLength(20_000);
    expect(trace.events[0]?.cut).toBe(true);
    expect(trace.events[1]?.cut).toBeUndefined();
  });

  it('returns its events and accepts them again', () => {
    const trace = new Trace();
    trace.add(event, Buffer.from('one'));
    const first = trace.takeAll();
    trace.add(event, Buffer.from('other'));
    trace.replaceAll(first);
    expect(trace.events.map(({ hex }) => Buffer.from(hex, 'hex').toString())).toEqual(['one']);
  });
});

describe('trace files', () => {
  const trace = new Trace();
  trace.add(event, Buffer.from('abc'));
  const result = {
    id: 'FRAME-004a',
    title: 't',
    outcome: 'fail',
    reason: 'r',
    names: '12-salt0.frame-004a',
    repetition: 3,
    trace: trace.events,
  };
  const run = { target: { name: 'x' }, seed: 36 };

  it('match the published schema', () => {
    const file = traceFile(result, run);
    expect(file).toMatchObject({ names: result.names, seed: 38, complete: true });
    expect(schemaFaults(traceSchema as Schema, file, '', traceSchema as Schema)).toEqual([]);
  });

  it('are marked as incomplete if bytes are missing', () => {
    const cut = [{ ...event, hex: '', byteCount: 9, cut: true } as const];
    expect(traceFile({ ...result, trace: cut }, run)).toMatchObject({ complete: false });
  });
});
