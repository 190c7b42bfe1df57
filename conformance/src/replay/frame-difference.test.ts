// What counts as a difference between a frame of a trace and the frame that came in its place, and what a broker may choose anew.
import { describe, expect, it } from 'vitest';
import { Command } from '../wire/command.ts';
import { encodeFrame, frameAround, u8 } from '../wire/encode.ts';
import type { DecodedBody, FrameFields } from '../wire/frame.ts';
import { differences, framesIn, wholeFrame } from './frame-difference.ts';

function frame(fields: Partial<FrameFields>): DecodedBody {
  const found = wholeFrame(encodeFrame({ command: Command.Deliver, id: 'm-1', queue: 'q', ...fields }));
  if (found === undefined) throw new Error('this is a frame');
  return found;
}

function compared(
  then: Partial<FrameFields>,
  now: Partial<FrameFields>,
  chosen: readonly string[] = ['m-1'],
): readonly string[] {
  return differences(frame(then), frame(now), (id) => chosen.includes(id));
}

const guid = '0f8fad5b-d9cb-469f-a165-70867728950e';
const otherGuid = '7c9e6679-7425-40de-944b-e07fc1f90ae7';

describe('a difference is', () => {
  it.each<[string, Partial<FrameFields>, Partial<FrameFields>]>([
    ['PublishAck instead of Deliver', {}, { command: Command.PublishAck }],
    ['id: "m-2" instead of "m-1"', {}, { id: 'm-2' }],
    ['queue: "r" instead of "q"', {}, { queue: 'r' }],
    ['payload: "2" instead of "1"', { payload: '1' }, { payload: '2' }],
    ['payload: "" instead of "1"', { payload: '1' }, {}],
    ['payload.n: 2 instead of 1', { payload: '{"n":1,"m":1}' }, { payload: '{"n":2,"m":1}' }],
    ['payload.n: 2 instead of nothing', { payload: '{"m":1}' }, { payload: '{"n":2,"m":1}' }],
    ['header a: "2" instead of "1"', { headers: { a: '1' } }, { headers: { a: '2' } }],
    ['header a: nothing instead of "1"', { headers: { a: '1' } }, {}],
    [
      'header a: ["1","1"] instead of "1"',
      { headers: { a: '1' } },
      {
        headers: [
          ['a', '1'],
          ['a', '1'],
        ],
      },
    ],
    [
      'errorCode: "B" instead of "A"',
      { command: Command.Error, errorCode: 'A' },
      { command: Command.Error, errorCode: 'B' },
    ],
  ])('%s', (text, then, now) => {
    expect(compared(then, now)).toEqual([text]);
  });

  it('every differing field', () => {
    expect(compared({ queue: 'q', payload: '1' }, { queue: 'r', payload: '2' })).toHaveLength(2);
  });

  it('bytes that are not UTF-8 and differ', () => {
    expect(compared({ payload: Buffer.from([0xff]) }, { payload: Buffer.from([0xfe]) })).toHaveLength(1);
  });
});

describe('no difference is', () => {
  it.each<[string, Partial<FrameFields>, Partial<FrameFields>]>([
    ['the order of headers', { headers: { a: '1', b: '2' } }, { headers: { b: '2', a: '1' } }],
    ['white space in JSON', { payload: '{"n":1}' }, { payload: '{ "n": 1 }' }],
    [
      'a point in time in a payload',
      { payload: '{"createdAt":"2026-01-02T03:04:05Z"}' },
      { payload: '{"createdAt":"2027-01-02T03:04:05.678+01:00"}' },
    ],
    [
      'a point in time in a header',
      { headers: { at: '2026-01-02T03:04:05Z' } },
      { headers: { at: '2026-01-02T03:04:06Z' } },
    ],
    ['a generated id in a header', { headers: { trace: guid } }, { headers: { trace: otherGuid } }],
    ['an id that the broker chose', { id: guid }, { id: otherGuid }],
    [
      'the text of an error',
      { command: Command.Error, errorCode: 'A', errorMessage: 'no' },
      { command: Command.Error, errorCode: 'A', errorMessage: 'never' },
    ],
    [
      'what a broker says of itself',
      { command: Command.ConnectAck, headers: { serverVersion: '1', connectionId: '1' } },
      { command: Command.ConnectAck, headers: { serverVersion: '2' } },
    ],
  ])('%s', (_what, then, now) => {
    expect(compared(then, now)).toEqual([]);
  });

  it('but an id that the client chose is one, though it looks generated', () => {
    expect(compared({ id: guid }, { id: otherGuid }, [guid])).toHaveLength(1);
    expect(compared({ headers: { h: guid } }, { headers: { h: otherGuid } }, [guid])).toHaveLength(1);
  });
});

describe('the frames in bytes', () => {
  const ping = encodeFrame({ command: Command.Ping, id: 'p' });

  it('are those at their start', () => {
    const bytes = Buffer.concat([ping, ping, Buffer.from([0, 0])]);
    expect(framesIn(bytes)).toMatchObject({ frames: [{ id: 'p' }, { id: 'p' }], isWhole: false });
    expect(framesIn(Buffer.concat([ping, frameAround(u8(1))]))).toMatchObject({ frames: [{ id: 'p' }] });
  });

  it('are one whole frame only if nothing follows it', () => {
    expect(wholeFrame(ping)?.id).toBe('p');
    expect(wholeFrame(Buffer.concat([ping, ping]))).toBeUndefined();
    expect(wholeFrame(ping.subarray(1))).toBeUndefined();
    expect(wholeFrame(Buffer.alloc(0))).toBeUndefined();
  });
});
