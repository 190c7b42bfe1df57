// Steps about frames as bytes: pieces, faults, compression.

import { type DataTable, Given, Then, When } from '@cucumber/cucumber';
import type { Algorithm } from '../../src/protocol/compression.ts';
import * as compression from '../support/compression.ts';
import * as frames from '../support/frames.ts';
import { payloadNaming, payloadOfSize, publish } from '../support/messages.ts';
import type { FeatureWorld } from '../support/world.ts';

When(
  '{client} sends a frame with {faultyFrame}',
  async function (this: FeatureWorld, label: string, words: string) {
    await frames.sendFaultyFrame(this, label, words);
  },
);

When(
  '{client} sends a Publish of message "m1" that {faultyBody}',
  async function (this: FeatureWorld, label: string, words: string) {
    await frames.sendFrameWithBody(this, label, words);
  },
);

When(
  '{client} sends a Publish of message {string} and right after it a frame with {faultyFrame}',
  async function (this: FeatureWorld, label: string, id: string, words: string) {
    await frames.publishBefore(this, label, { id, words });
  },
);

When(
  '{client} sends only the five bytes before a body of {int} byte(s) with compression flags {int}',
  async function (this: FeatureWorld, label: string, bodyLength: number, flags: number) {
    await frames.sendHeaderOnly(this, label, { bodyLength, flags });
  },
);

When(
  '{client} sends {command} with id {string} byte by byte',
  async function (this: FeatureWorld, label: string, command: number, id: string) {
    await frames.sendByteByByte(this, label, { command, id });
  },
);

When(
  '{client} sends the first {int} bytes of {command} with id {string}',
  async function (this: FeatureWorld, label: string, count: number, command: number, id: string) {
    await frames.sendBeginning(this, label, { fields: { command, id }, count });
  },
);

Given(
  '{client} has sent the first {int} bytes of a Publish of message {string} to queue {string}',
  async function (this: FeatureWorld, label: string, count: number, id: string, queue: string) {
    await frames.beginPublish(this, label, { id, queue, count });
  },
);

When('{client} sends these bytes:', async function (this: FeatureWorld, label: string, table: DataTable) {
  await frames.sendBytes(this, label, frames.bytesOf(table.raw()));
});

Then(
  '{client} receives a frame of these bytes:',
  async function (this: FeatureWorld, label: string, table: DataTable) {
    await frames.receiveBytes(this, label, frames.bytesOf(table.raw()));
  },
);

Then(
  '{client} receives a frame that begins with these bytes after its length:',
  async function (this: FeatureWorld, label: string, table: DataTable) {
    await frames.receiveBeginning(this, label, frames.bytesOf(table.raw()));
  },
);

When('{client} sends the rest', async function (this: FeatureWorld, label: string) {
  await frames.sendRest(this, label);
});

When(
  '{client} publishes message {string} in a body of exactly {size} to queue "orders"',
  async function (this: FeatureWorld, label: string, id: string, bodyBytes: number) {
    await frames.publishOfBodySize(this, label, { id, bodyBytes });
  },
);

When(
  '{client} publishes message {string} in a body that decompresses with {algorithm} to exactly {size} to queue "orders"',
  async function (this: FeatureWorld, label: string, id: string, algorithm: Algorithm, bodyBytes: number) {
    await frames.publishOfBodySize(this, label, { id, bodyBytes, algorithm });
  },
);

When(
  '{client} publishes message {string} of {size} compressed with {algorithm} to queue {string}',
  async function (
    this: FeatureWorld,
    label: string,
    id: string,
    size: number,
    algorithm: Algorithm,
    queue: string,
  ) {
    await publish(this, label, { id, queue, payload: payloadOfSize(size) }, algorithm);
  },
);

When(
  '{client} publishes message {string} compressed with {algorithm} to queue {string}',
  async function (this: FeatureWorld, label: string, id: string, algorithm: Algorithm, queue: string) {
    await publish(this, label, { id, queue, payload: payloadNaming(id) }, algorithm);
  },
);

Given(
  '{client} is connected and offers {string}',
  async function (this: FeatureWorld, label: string, offered: string) {
    await compression.connectOffering(this, label, offered);
  },
);

Then(
  '{client} and the broker agree on {string}',
  function (this: FeatureWorld, label: string, algorithm: string) {
    compression.assertAgreed(this, label, algorithm);
  },
);

Then('{client} and the broker agree on no compression', function (this: FeatureWorld, label: string) {
  compression.assertAgreed(this, label, undefined);
});

Then('{client} receives Error {errorCode}', async function (this: FeatureWorld, label: string, code: string) {
  await frames.receiveErrorOf(this, label, [code]);
});

When(
  '{client} sends a Ping with id {string} compressed with {algorithm}',
  async function (this: FeatureWorld, label: string, id: string, algorithm: Algorithm) {
    await compression.sendCompressedPing(this, label, { id, algorithm });
  },
);
