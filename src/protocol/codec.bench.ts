// How many frames per second the codec reads and writes, and what a payload check costs. Prints medians; judges nothing.
// Run: node --import tsx src/protocol/codec.bench.ts

import { Bench } from 'tinybench';
import { Command } from './command.ts';
import { decodeMessage } from './decode.ts';
import { encodedBodyLength, encodeFrame, writeBody, writeFrameHeader } from './encode.ts';
import { isFault } from './fault.ts';
import { checkFieldRules } from './field-rules.ts';
import { FrameSplitter } from './frame-splitter.ts';
import { scanJson } from './json-scanner.ts';
import { defaultLimits } from './limits.ts';
import type { MessageFields } from './message.ts';

/** What one read of a busy socket brings. */
const chunkBytes = 65_536;

/** A Publish of about `frameBytes` bytes, like those that clients send: an id of 32 digits, no headers. */
function publishOf(frameBytes: number): MessageFields {
  const fields = { command: Command.Publish, id: '0f8e8f3f3ed64866aef39b6ac4644f7a', queue: 'orders.new' };
  const text = 'The quick brown fox jumps over the lazy dog. '.repeat(frameBytes / 45);
  const order = { total: 19.99, items: [1, 2, 3], paid: true, text };
  const surplus = encodeFrame({ ...fields, payload: Buffer.from(JSON.stringify(order)) }).length - frameBytes;
  order.text = surplus > 0 ? text.slice(0, -surplus) : text.padEnd(text.length - surplus, '.');
  return { ...fields, payload: Buffer.from(JSON.stringify(order)) };
}

function streamOf(frame: Buffer): Buffer {
  return Buffer.concat(Array.from({ length: Math.floor(chunkBytes / frame.length) }, () => frame));
}

/** Reads a chunk as a session does and returns how many sound messages it held. */
function readAll(chunk: Buffer): number {
  const splitter = new FrameSplitter(defaultLimits);
  splitter.push(chunk);
  let count = 0;
  for (let frame = splitter.next(); frame !== undefined && !isFault(frame); frame = splitter.next()) {
    const message = decodeMessage(frame.body);
    if (!isFault(message) && checkFieldRules(message, defaultLimits) === undefined) count += 1;
  }
  return count;
}

/** Writes `count` frames into one buffer, as for one write to a socket. */
function writeAll(fields: MessageFields, count: number, target: Buffer): number {
  let at = 0;
  for (let written = 0; written < count; written += 1) {
    at = writeFrameHeader(target, at, encodedBodyLength(fields), 0);
    at = writeBody(fields, target, at);
  }
  return at;
}

const bench = new Bench({ time: 1000, warmupTime: 300, iterations: 64, warmupIterations: 16, throws: true });
const framesPerRun = new Map<string, number>();

function measure(name: string, frameCount: number, work: () => number, expected: number): void {
  if (work() !== expected) throw new Error(`${name} does not do its work.`);
  framesPerRun.set(name, frameCount);
  bench.add(name, () => {
    work();
  });
}

for (const frameBytes of [150, 1024]) {
  const fields = publishOf(frameBytes);
  const frame = encodeFrame(fields);
  const stream = streamOf(frame);
  const count = stream.length / frame.length;
  const target = Buffer.alloc(stream.length);
  const payload = fields.payload ?? target;
  measure(`read ${frame.length} B`, count, () => readAll(stream), count);
  measure(`write ${frame.length} B`, count, () => writeAll(fields, count, target), stream.length);
  measure(`check JSON of ${payload.length} B`, 1, () => Number(scanJson(payload) === true), 1);
}

await bench.run();

for (const task of bench.tasks) {
  if (!('latency' in task.result)) throw new Error(`${task.name}: ${task.result.state}`);
  const microseconds = (1000 * task.result.latency.p50) / (framesPerRun.get(task.name) ?? 1);
  const perSecond = Math.round(1_000_000 / microseconds).toLocaleString('en');
  console.log(
    `${task.name.padEnd(24)} ${perSecond.padStart(12)} /s ${microseconds.toFixed(3).padStart(9)} us`,
  );
}
