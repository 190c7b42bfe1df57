// What a command writes to stdout reaches a file whole, and what does not is told once.

import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { FileOutput, watchOutput } from './standard-output.ts';

const NO_SPACE = Object.assign(new Error('ENOSPC: no space left on device, write'), {
  errno: -28,
  code: 'ENOSPC',
});
const NO_READER = Object.assign(new Error('write EPIPE'), { errno: -32, code: 'EPIPE' });

/** A file system that takes three bytes at a time, and `capacity` in all. */
function smallDisk(capacity: number) {
  const written: Buffer[] = [];
  const length = () => Buffer.concat(written).length;
  const write = (_: number, bytes: Buffer, start: number): number => {
    const room = Math.min(3, capacity - length());
    if (room === 0) throw NO_SPACE;
    written.push(Buffer.from(bytes.subarray(start, start + room)));
    return Math.min(room, bytes.length - start);
  };
  return { output: new FileOutput(1, write as never), content: () => Buffer.concat(written).toString() };
}

const failing = (error: Error) => new Writable({ write: (_, __, callback) => callback(error) });

function write(output: Writable, text: string): Promise<Error | undefined> {
  return new Promise((resolve) => output.write(text, (error) => resolve(error ?? undefined)));
}

describe('a file as stdout', () => {
  it('gets the rest of a write that was cut short', async () => {
    const { output, content } = smallDisk(100);
    expect([await write(output, 'a line that is long\n'), content()]).toEqual([
      undefined,
      'a line that is long\n',
    ]);
  });

  it('fails for a write of which the disk takes a part only', async () => {
    const { output, content } = smallDisk(8);
    output.on('error', () => undefined);
    expect([await write(output, 'a line that is long\n'), content()]).toEqual([NO_SPACE, 'a line t']);
    expect(await write(output, 'more\n')).toBeInstanceOf(Error);
  });
});

describe('an output that is watched', () => {
  it('tells the first error, without its code', async () => {
    const [stdout, stderr] = [failing(NO_SPACE), new PassThrough()];
    const hasFailed = watchOutput(stdout, stderr);
    stdout.write('1\n');
    stdout.write('2\n');
    expect([await hasFailed(), String(stderr.read())]).toEqual([
      true,
      'truemq: stdout cannot be written: no space left on device\n',
    ]);
  });

  it('tells an error that is not of the system as it is', async () => {
    const [stdout, stderr] = [failing(new Error('no more')), new PassThrough()];
    const hasFailed = watchOutput(stdout, stderr);
    stdout.write('1\n');
    expect([await hasFailed(), String(stderr.read())]).toEqual([
      true,
      'truemq: stdout cannot be written: no more\n',
    ]);
  });

  it('says nothing of a reader that has closed the pipe, nor of writes that succeed', async () => {
    for (const stdout of [failing(NO_READER), new PassThrough()]) {
      const stderr = new PassThrough();
      const hasFailed = watchOutput(stdout, stderr);
      stdout.write('1\n');
      expect([await hasFailed(), stderr.read()]).toEqual([false, null]);
    }
  });
});
