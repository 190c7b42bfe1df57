// The encoder against bytes that a separate writer made, and its own limits.

import { describe, expect, it } from 'vitest';
import { bodyBytes, frameBytes } from '../testing/wire-bytes.ts';
import { Command } from './command.ts';
import { encodeBody, encodedBodyLength, encodeFrame, frameOf, writeBody } from './encode.ts';
import type { MessageFields } from './message.ts';

const everything: MessageFields = {
  command: Command.Publish,
  id: 'm-1',
  queue: 'bücher',
  payload: Buffer.from('{"a":1}'),
  headers: new Map([
    ['priority', 'High'],
    ['note', '📦'.repeat(30)],
  ]),
};
const everythingBytes = bodyBytes({
  command: Command.Publish,
  id: 'm-1',
  queue: 'bücher',
  payload: '{"a":1}',
  headers: [
    ['priority', 'High'],
    ['note', '📦'.repeat(30)],
  ],
});

describe('encoding', () => {
  it('writes every field in its place, with version 1 [BODY-001, BODY-002, BODY-013]', () => {
    expect(encodeBody(everything)).toEqual(everythingBytes);
  });

  it('writes absent fields as length 0 [BODY-006, BODY-007]', () => {
    expect(encodeBody({ command: Command.Ping, id: 'p' })).toEqual(
      bodyBytes({ command: Command.Ping, id: 'p' }),
    );
  });

  it('writes the error fields of an Error only [BODY-010]', () => {
    const error = { id: 'e', errorCode: 'C', errorMessage: 'M' };
    expect(encodeBody({ command: Command.Error, ...error })).toEqual(
      bodyBytes({ command: Command.Error, ...error }),
    );
    expect(encodeBody({ command: Command.Ack, ...error })).toEqual(
      bodyBytes({ command: Command.Ack, id: 'e' }),
    );
    const empty = { id: 'e', errorCode: '', errorMessage: '' };
    expect(encodeBody({ command: Command.Error, id: 'e' })).toEqual(
      bodyBytes({ command: Command.Error, ...empty }),
    );
  });

  it('puts the length of the body and the flags before it [FRAME-001, FRAME-002]', () => {
    expect(encodeFrame(everything)).toEqual(frameBytes(everythingBytes));
    expect(frameOf(everythingBytes)).toEqual(frameBytes(everythingBytes));
    expect(frameOf(Buffer.from('zz'), 'gzip')).toEqual(frameBytes(Buffer.from('zz'), 1));
    expect(frameOf(Buffer.from('zz'), 'brotli')).toEqual(frameBytes(Buffer.from('zz'), 2));
  });

  it('writes into the middle of a shared buffer and touches nothing around it', () => {
    const target = Buffer.alloc(everythingBytes.length + 20, 0xaa);
    expect(writeBody(everything, target, 10)).toBe(10 + encodedBodyLength(everything));
    expect(target.subarray(10, -10)).toEqual(everythingBytes);
    expect(target.subarray(0, 10)).toEqual(Buffer.alloc(10, 0xaa));
    expect(target.subarray(-10)).toEqual(Buffer.alloc(10, 0xaa));
  });

  it.each([39, 40, 41, 255, 256])(
    'writes text of %i characters, ASCII or not, whichever way it goes',
    (length) => {
      for (const id of ['i'.repeat(length), `${'i'.repeat(length - 1)}é`, `é${'i'.repeat(length - 1)}`]) {
        expect(encodeBody({ command: Command.Ping, id })).toEqual(bodyBytes({ command: Command.Ping, id }));
      }
    },
  );

  it('takes text of 65535 bytes and throws for one more, counted in bytes', () => {
    expect(encodeBody({ command: Command.Ping, id: 'i'.repeat(65_535) }).length).toBe(2 + 2 + 65_535 + 8);
    expect(() => encodeBody({ command: Command.Ping, id: 'i'.repeat(65_536) })).toThrow(RangeError);
    expect(() => encodeBody({ command: Command.Ping, id: 'é'.repeat(32_768) })).toThrow(RangeError);
  });

  it('takes 65535 headers and throws for one more', () => {
    const pairs = Array.from({ length: 65_536 }, (_, index) => [`${index}`, 'v'] as const);
    expect(
      encodedBodyLength({ command: Command.Ping, id: 'p', headers: new Map(pairs.slice(1)) }),
    ).toBeGreaterThan(65_535);
    expect(() => encodeBody({ command: Command.Ping, id: 'p', headers: new Map(pairs) })).toThrow(RangeError);
  });

  it('replaces half of a surrogate pair, which UTF-8 cannot hold, with U+FFFD', () => {
    expect(encodeBody({ command: Command.Ping, id: 'a\ud83d' })).toEqual(
      bodyBytes({ command: Command.Ping, id: 'a\ufffd' }),
    );
  });
});
