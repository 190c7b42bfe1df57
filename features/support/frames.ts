// What clients do with frames as bytes: sound ones in pieces, faulty ones, and compressed ones.

import assert from 'node:assert/strict';
import { Command } from '../../src/protocol/command.ts';
import type { Algorithm } from '../../src/protocol/compression.ts';
import { encodeFrame, frameHeaderBytes, frameOf } from '../../src/protocol/encode.ts';
import type { MessageFields } from '../../src/protocol/message.ts';
import { compress } from './client.ts';
import { faultyFrame, frameWithBody, publishBodyOfSize } from './faulty-frames.ts';
import { payloadNaming } from './messages.ts';
import type { ReceivedFrame } from './received-frame.ts';
import { type FeatureWorld, ofCommand } from './world.ts';

/** The queue that faulty publishes name. */
const QUEUE = 'orders';

export async function sendFaultyFrame(world: FeatureWorld, label: string, words: string): Promise<void> {
  await sendBytes(world, label, faultyFrame(words, await world.queueName(QUEUE)));
}

export async function sendFrameWithBody(world: FeatureWorld, label: string, words: string): Promise<void> {
  await sendBytes(world, label, frameWithBody(words, await world.queueName(QUEUE)));
}

/** A sound Publish and a faulty frame in one write. */
export async function publishBefore(
  world: FeatureWorld,
  label: string,
  { id, words }: { readonly id: string; readonly words: string },
): Promise<void> {
  const queue = await world.queueName(QUEUE);
  const sound = encodeFrame({ command: Command.Publish, id, queue, payload: payloadNaming(id) });
  await sendBytes(world, label, Buffer.concat([sound, faultyFrame(words, queue)]));
}

/** Rows of hexadecimal bytes, each with its meaning for the reader. */
export function bytesOf(rows: readonly (readonly string[])[]): Buffer {
  return Buffer.from(rows.map(([hex = '']) => hex.replaceAll(' ', '')).join(''), 'hex');
}

export async function receiveBytes(world: FeatureWorld, label: string, bytes: Buffer): Promise<void> {
  await world.receive(label, (frame) => frame.bytes.equals(bytes), `the bytes ${bytes.toString('hex')}`);
}

/** The frame's first bytes, its length left aside. */
export async function receiveBeginning(world: FeatureWorld, label: string, bytes: Buffer): Promise<void> {
  const matches = (frame: ReceivedFrame) => frame.bytes.subarray(4, 4 + bytes.length).equals(bytes);
  await world.receive(label, matches, `a frame that begins with ${bytes.toString('hex')}`);
}

/** Only the header of a frame: the broker waits for the rest, or finds the header faulty. */
export async function sendHeaderOnly(
  world: FeatureWorld,
  label: string,
  header: { readonly bodyLength: number; readonly flags: number },
): Promise<void> {
  const bytes = Buffer.alloc(frameHeaderBytes);
  bytes.writeUInt32BE(header.bodyLength);
  bytes.writeUInt8(header.flags, 4);
  await sendBytes(world, label, bytes, { isPartial: true });
}

export async function sendBytes(
  world: FeatureWorld,
  label: string,
  bytes: Buffer,
  options: { readonly isPartial?: boolean } = {},
): Promise<void> {
  const client = await world.client(label);
  await (await world.broker()).settle([]);
  client.sendBytes(bytes, options);
  await world.settle();
}

/** Every byte on its own, each handed over before the next is sent. */
export async function sendByteByByte(
  world: FeatureWorld,
  label: string,
  fields: MessageFields,
): Promise<void> {
  const frame = encodeFrame(fields);
  for (const [index, byte] of frame.entries()) {
    await sendBytes(world, label, Buffer.from([byte]), { isPartial: index < frame.length - 1 });
  }
}

/** The beginning of a frame; the rest is kept for `sendRest`. */
export async function sendBeginning(
  world: FeatureWorld,
  label: string,
  { fields, count }: { readonly fields: MessageFields; readonly count: number },
): Promise<void> {
  const frame = encodeFrame(fields);
  assert.ok(count < frame.length, `the whole frame has ${frame.length} bytes`);
  world.unsentBytes.set(label, frame.subarray(count));
  await sendBytes(world, label, frame.subarray(0, count), { isPartial: true });
}

export async function beginPublish(
  world: FeatureWorld,
  label: string,
  { id, queue, count }: { readonly id: string; readonly queue: string; readonly count: number },
): Promise<void> {
  const name = await world.queueName(queue);
  const fields = { command: Command.Publish, id, queue: name, payload: payloadNaming(id) };
  await sendBeginning(world, label, { fields, count });
}

export async function sendRest(world: FeatureWorld, label: string): Promise<void> {
  await sendBytes(
    world,
    label,
    world.unsentBytes.get(label) ?? assert.fail(`${label} has nothing left to send`),
  );
}

/** A Publish whose body has exactly so many bytes, compressed or as it is. */
export async function publishOfBodySize(
  world: FeatureWorld,
  label: string,
  {
    id,
    bodyBytes,
    algorithm,
  }: { readonly id: string; readonly bodyBytes: number; readonly algorithm?: Algorithm },
): Promise<void> {
  const body = publishBodyOfSize(bodyBytes, { id, queue: await world.queueName(QUEUE) });
  await sendBytes(
    world,
    label,
    algorithm === undefined ? frameOf(body) : frameOf(compress(algorithm, body), algorithm),
  );
}

/** The next answer is an Error of one of these codes, and carries an id. */
export async function receiveErrorOf(
  world: FeatureWorld,
  label: string,
  codes: readonly string[],
): Promise<void> {
  const { message } = await world.receive(label, ofCommand(Command.Error), 'an Error');
  assert.ok(codes.includes(message.errorCode), `the code is ${message.errorCode}`);
  assert.notEqual(message.id, '');
}
