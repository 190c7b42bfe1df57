// Frames that no sender should send, by the words in which scenarios speak of them. Written byte by byte, since the broker's
// own encoder makes no such frames.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { Command } from '../../src/protocol/command.ts';
import { encodeBody } from '../../src/protocol/encode.ts';
import { type BodyParts, bodyBytes, frameBytes, string16 } from '../../src/testing/wire-bytes.ts';
import { compress } from './client.ts';
import { payloadOfSize } from './messages.ts';

const MIB = 1_048_576;

/** A sound Publish of message m1, to be spoilt. */
function publishParts(queue: string): BodyParts {
  return {
    command: Command.Publish,
    id: 'm1',
    queue,
    payload: '{"message":"m1"}',
    headers: [['color', 'blue']],
  };
}

type Spoil = (queue: string) => Buffer;

/** Faults of the frame: what follows them cannot be trusted. */
const framingFaults: Readonly<Record<string, Spoil>> = {
  'a body length of 0': () => frameBytes(Buffer.alloc(0)),
  'a body length of 1': () => frameBytes(Buffer.from([1])),
  'a body length of one byte over the limit': () => frameBytes(Buffer.alloc(0), 0, MIB + 1),
  'the largest body length that four bytes can hold': () => frameBytes(Buffer.alloc(0), 0, 0xffff_ffff),
  'compression flags 3': (queue) => frameBytes(bodyBytes(publishParts(queue)), 3),
  'compression flags 255': (queue) => frameBytes(bodyBytes(publishParts(queue)), 255),
  'data that is not gzip': (queue) => frameBytes(bodyBytes(publishParts(queue)), 1),
  'data that is not brotli': () => frameBytes(randomBytes(64).fill(0xff, 0, 8), 2),
  'truncated gzip data': (queue) => brokenOff('gzip', queue),
  'truncated brotli data': (queue) => brokenOff('brotli', queue),
  'a body that decompresses to one byte over the limit': (queue) => unpackingTo(MIB + 1, queue),
  'a body that decompresses to 65 MiB': () => frameBytes(compress('gzip', Buffer.alloc(65 * MIB)), 1),
};

/** Faults inside an intact frame: the next frame is certain. */
const bodyFaults: Readonly<Record<string, Spoil>> = {
  'ends after the command': (queue) => cutBody(queue, 2),
  'ends in the id': (queue) => cutBody(queue, 5),
  'ends in the queue': (queue) => cutBody(queue, 8),
  'ends in the payload': (queue) => cutBody(queue, 12 + Buffer.byteLength(queue)),
  'ends in the headers': (queue) => bodyBytes(publishParts(queue)).subarray(0, -3),
  'announces more headers than it has': (queue) => withHeaderCount(queue, 2),
  'announces a payload longer than the body': (queue) => withPayloadLength(queue, 0xffff_ffff),
  'has an empty id': (queue) => bodyBytes({ ...publishParts(queue), id: '' }),
  'has an id that is not UTF-8': (queue) =>
    bodyBytes({ ...publishParts(queue), id: Buffer.from([0xc3, 0x28]) }),
  'has a queue name that is not UTF-8': () =>
    bodyBytes({ ...publishParts(''), queue: Buffer.from([0xff, 0xfe]) }),
  'has a header name that is not UTF-8': (queue) => withHeader(queue, [Buffer.from([0xe2, 0x82]), 'x']),
  'has a header value that is not UTF-8': (queue) =>
    withHeader(queue, ['x', Buffer.from([0xed, 0xa0, 0x80])]),
};

/** Sound bodies that are not what every encoder would write. */
const unusualBodies: Readonly<Record<string, Spoil>> = {
  'has bytes after its last field': (queue) =>
    bodyBytes({ ...publishParts(queue), trailing: Buffer.from('leftover') }),
  'has a header with an empty name': (queue) => withHeader(queue, ['', 'nameless']),
  'has a header with an empty value': (queue) => withHeader(queue, ['empty', '']),
  'has the same header twice, first with another value': (queue) =>
    withHeader(queue, ['color', 'red'], 'before'),
};

export const faultyFrameWords: readonly string[] = Object.keys(framingFaults);
export const faultyBodyWords: readonly string[] = [...Object.keys(bodyFaults), ...Object.keys(unusualBodies)];

export function faultyFrame(words: string, queue: string): Buffer {
  return (framingFaults[words] ?? assert.fail(`there is no faulty frame with ${words}`))(queue);
}

/** A whole frame around such a body. */
export function frameWithBody(words: string, queue: string): Buffer {
  const spoil = bodyFaults[words] ?? unusualBodies[words] ?? assert.fail(`there is no body that ${words}`);
  return frameBytes(spoil(queue));
}

function brokenOff(algorithm: 'gzip' | 'brotli', queue: string): Buffer {
  const body = bodyBytes({ ...publishParts(queue), payload: payloadOfSize(4_096) });
  return frameBytes(compress(algorithm, body).subarray(0, -12), algorithm === 'gzip' ? 1 : 2);
}

/** A Publish of message m1 whose body has exactly so many bytes when it is unpacked. */
function unpackingTo(bodyLength: number, queue: string): Buffer {
  return frameBytes(compress('gzip', publishBodyOfSize(bodyLength, { id: 'm1', queue })), 1);
}

export function publishBodyOfSize(
  bodyLength: number,
  { id, queue }: { readonly id: string; readonly queue: string },
): Buffer {
  const fields = { command: Command.Publish, id, queue };
  const empty = encodeBody(fields).length;
  return encodeBody({ ...fields, payload: payloadOfSize(bodyLength - empty) });
}

function cutBody(queue: string, length: number): Buffer {
  return bodyBytes(publishParts(queue)).subarray(0, length);
}

function withHeader(
  queue: string,
  header: readonly [string | Uint8Array, string | Uint8Array],
  place: 'before' | 'after' = 'after',
): Buffer {
  const { headers = [], ...parts } = publishParts(queue);
  return bodyBytes({ ...parts, headers: place === 'before' ? [header, ...headers] : [...headers, header] });
}

/** The count stands right before the headers, which are color and blue here. */
function withHeaderCount(queue: string, count: number): Buffer {
  const body = bodyBytes(publishParts(queue));
  const headerBytes = string16('color').length + string16('blue').length;
  body.writeUInt16BE(count, body.length - headerBytes - 2);
  return body;
}

/** The payload's length stands after version, command, id and queue. */
function withPayloadLength(queue: string, length: number): Buffer {
  const body = bodyBytes(publishParts(queue));
  body.writeUInt32BE(length, 2 + string16('m1').length + string16(queue).length);
  return body;
}
