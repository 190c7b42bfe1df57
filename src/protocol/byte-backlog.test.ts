// Which memory a backlog keeps and writes to; what it gives is tested with the splitter.

import { describe, expect, it } from 'vitest';
import { ByteBacklog } from './byte-backlog.ts';

const held = (backlog: ByteBacklog): string =>
  backlog.bytes.toString('latin1', backlog.start, backlog.start + backlog.length);

describe('a chunk that is alone', () => {
  it('is used as it is when it was handed over', () => {
    const backlog = new ByteBacklog();
    const chunk = Buffer.from('abcdef');
    backlog.append(chunk, 100);
    expect(backlog.bytes).toBe(chunk);
    expect(backlog.take(2).buffer).toBe(chunk.buffer);
    expect([held(backlog), backlog.byteAt(1), backlog.length]).toEqual(['cdef', 0x64, 4]);
  });

  it('is copied when its memory must not be kept', () => {
    const backlog = new ByteBacklog();
    const chunk = Buffer.from('abcdef');
    backlog.appendCopy(chunk, 100);
    chunk.fill('x');
    expect(held(backlog)).toBe('abcdef');
  });

  it.each([
    ['twice of it', 100, 12],
    ['what is expected', 7, 7],
    ['it alone', 1, 6],
  ])('is copied into room for %s', (_name, expectedLength, room) => {
    const backlog = new ByteBacklog();
    backlog.appendCopy(Buffer.from('abcdef'), expectedLength);
    expect([held(backlog), backlog.bytes.length]).toEqual(['abcdef', room]);
  });

  it('is copied when its owner may change it, but for what was taken', () => {
    const backlog = new ByteBacklog();
    const chunk = Buffer.from('abcdef');
    backlog.append(chunk, 100);
    backlog.drop(2);
    backlog.releaseChunk();
    chunk.fill('x');
    expect([held(backlog), backlog.bytes.length]).toEqual(['cdef', 4]);
  });

  it('is not copied twice', () => {
    const backlog = new ByteBacklog();
    backlog.append(Buffer.from('abcdef'), 100);
    backlog.releaseChunk();
    const copy = backlog.bytes;
    backlog.releaseChunk();
    expect(backlog.bytes).toBe(copy);
  });
});

describe('a second chunk', () => {
  it.each([
    ['append', (backlog: ByteBacklog, chunk: Buffer) => backlog.append(chunk, 100)],
    ['appendCopy', (backlog: ByteBacklog, chunk: Buffer) => backlog.appendCopy(chunk, 100)],
  ])('is copied behind the first, and not into it (%s)', (_name, add) => {
    const backlog = new ByteBacklog();
    const whole = Buffer.from('abcd1234');
    backlog.append(whole.subarray(0, 4), 100);
    const second = Buffer.from('efgh');
    add(backlog, second);
    second.fill('x');
    expect([held(backlog), whole.toString()]).toEqual(['abcdefgh', 'abcd1234']);
  });

  it('grows the room to twice of what is needed, at most to what is expected', () => {
    const backlog = new ByteBacklog();
    backlog.append(Buffer.alloc(10), 1000);
    backlog.append(Buffer.alloc(10), 1000);
    expect(backlog.bytes.length).toBe(40);
    backlog.append(Buffer.alloc(30), 60);
    expect(backlog.bytes.length).toBe(60);
  });

  it('goes into the room that is left, to its last byte', () => {
    const backlog = new ByteBacklog();
    backlog.append(Buffer.alloc(10), 1000);
    backlog.append(Buffer.alloc(10), 1000);
    const room = backlog.bytes;
    backlog.append(Buffer.alloc(20, 'z'), 1000);
    expect(backlog.bytes).toBe(room);
    expect(room.toString('latin1', 20)).toBe('z'.repeat(20));
  });
});

describe('numbers', () => {
  it('are read where they lie', () => {
    const backlog = new ByteBacklog();
    backlog.append(Buffer.from([9, 9, 0, 1, 2, 3, 4]), 100);
    backlog.drop(2);
    expect([backlog.readUInt32BE(0), backlog.readUInt32BE(1)]).toEqual([0x00010203, 0x01020304]);
  });
});

it('keeps nothing when all of it was taken', () => {
  const backlog = new ByteBacklog();
  backlog.append(Buffer.from('abcdef'), 100);
  backlog.drop(6);
  expect([backlog.length, backlog.bytes.length]).toEqual([0, 0]);
});
