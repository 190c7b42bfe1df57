// The fields of frames for reports: all of a whole frame, and of a broken one what is there.
import { describe, expect, it } from 'vitest';
import { Command } from '../wire/command.ts';
import { encodeFrame } from '../wire/encode.ts';
import { frameFields } from './frame-fields.ts';

const told = (bytes: Buffer): readonly string[] =>
  frameFields(bytes).map(({ name, start, end, text }) => `${name} ${start}-${end}: ${text}`);

const publish = encodeFrame({
  command: Command.Publish,
  id: 'm-1',
  queue: 'orders',
  payload: '{}',
  headers: { a: 'b', c: '' },
});

describe('the fields of a frame', () => {
  it('are all its bytes, each once', () => {
    expect(told(publish)).toEqual([
      'length 0-4: 34 bytes of body',
      'flags 4-5: 0, not compressed',
      'version 5-6: 1',
      'command 6-7: 20, Publish',
      'id 7-12: 3 bytes',
      'queue 12-20: 6 bytes',
      'payload 20-26: 2 bytes',
      'headers 26-39: 2',
    ]);
  });

  it('of an Error have its code and its text', () => {
    const bytes = encodeFrame({ command: Command.Error, id: 'c', errorCode: 'OH', errorMessage: 'no' });
    expect(told(bytes).slice(-2)).toEqual(['error 18-22: 2 bytes', 'error 22-26: 2 bytes']);
  });

  it('are what is there of a frame that breaks off, or whose lengths do not fit', () => {
    for (let length = 0; length <= publish.length; length += 1) {
      const fields = frameFields(publish.subarray(0, length));
      const ends = [0, ...fields.map(({ end }) => end)];
      expect(fields.map(({ start }) => start)).toEqual(ends.slice(0, -1));
      expect(ends.at(-1)).toBe(length);
    }
    expect(told(Buffer.from('0000000200ff', 'hex'))).toEqual([
      'length 0-4: 2 bytes of body',
      'flags 4-5: 0, not compressed',
      'version 5-6: 255',
    ]);
    expect(told(Buffer.from('000000030001ff07', 'hex')).at(-1)).toMatch(/^rest 7-8: /);
  });

  it('of a payload of which only the beginning was kept are cut with it', () => {
    expect(told(publish.subarray(0, 25)).at(-1)).toBe('payload 20-25: 2 bytes');
  });

  it('of several frames follow each other', () => {
    const ping = encodeFrame({ command: Command.Ping, id: 'p' });
    const names = frameFields(Buffer.concat([ping, ping])).map(({ name }) => name);
    const one = ['length', 'flags', 'version', 'command', 'id', 'queue', 'payload', 'headers'];
    expect(names).toEqual([...one, ...one]);
  });

  it('of a compressed body are one', () => {
    expect(told(Buffer.from('00000003011f8b08', 'hex')).slice(-2)).toEqual([
      'flags 4-5: 1, gzip',
      'rest 5-8: the compressed body',
    ]);
  });
});
