// Steps about messages as they are subscribed to, delivered and acknowledged.

import assert from 'node:assert/strict';
import { type DataTable, Given, Then, When } from '@cucumber/cucumber';
import { Command } from '../../src/protocol/command.ts';
import * as messages from '../support/messages.ts';
import { type FeatureWorld, ofCommand } from '../support/world.ts';

Given(
  '{client} subscribes to queue {string}',
  async function (this: FeatureWorld, label: string, queue: string) {
    await messages.subscribe(this, label, queue);
  },
);

Given(
  '{client} subscribes to queue {string} for at most {int} message(s) at a time',
  async function (this: FeatureWorld, label: string, queue: string, count: number) {
    await messages.subscribe(this, label, queue, new Map([['maxInFlight', String(count)]]));
  },
);

When(
  '{client} unsubscribes from queue {string}',
  async function (this: FeatureWorld, label: string, queue: string) {
    await messages.unsubscribe(this, label, queue);
  },
);

When(
  '{client} acknowledges {messages}',
  async function (this: FeatureWorld, label: string, ids: readonly string[]) {
    await messages.acknowledge(this, label, ids);
  },
);

When(
  '{client} acknowledges {messages} of queue {string}',
  async function (this: FeatureWorld, label: string, ids: readonly string[], queue: string) {
    await messages.acknowledge(this, label, ids, { queue: await this.queueName(queue) });
  },
);

When(
  '{client} acknowledges message {string} by header messageId',
  async function (this: FeatureWorld, label: string, id: string) {
    await messages.acknowledge(this, label, [this.freshId('ack')], { headers: new Map([['messageId', id]]) });
  },
);

When(
  '{client} refuses {messages} with reason {word}',
  async function (this: FeatureWorld, label: string, ids: readonly string[], reason: string) {
    await messages.refuse(this, label, { ids, reason });
  },
);

Then(
  '{client} receives {messages}',
  async function (this: FeatureWorld, label: string, ids: readonly string[]) {
    await messages.receiveMessages(this, label, ids);
  },
);

Then('{client} receives no (further )message', async function (this: FeatureWorld, label: string) {
  await this.receiveNo(label, ofCommand(Command.Deliver), 'a message');
});

Then(
  '{client} receives message {string} uncompressed',
  async function (this: FeatureWorld, label: string, id: string) {
    const { algorithm } = await messages.receiveMessage(this, label, id);
    assert.equal(algorithm, undefined);
  },
);

Then(
  '{client} receives message {string} compressed with {algorithm}',
  async function (this: FeatureWorld, label: string, id: string, expected: string) {
    const { algorithm } = await messages.receiveMessage(this, label, id);
    assert.equal(algorithm, expected);
  },
);

Then(
  '{client} receives message {string} of {size} compressed with {algorithm}',
  async function (this: FeatureWorld, label: string, id: string, sizeBytes: number, expected: string) {
    const { message, algorithm } = await messages.receiveMessage(this, label, id);
    assert.equal(algorithm, expected);
    assert.deepEqual(message.payload, messages.payloadOfSize(sizeBytes));
  },
);

Then(
  '{client} receives message {string} with nothing after its last field',
  async function (this: FeatureWorld, label: string, id: string) {
    const { message, bodyBytes } = await messages.receiveMessage(this, label, id);
    assert.equal(message.endAt, bodyBytes);
  },
);

Then(
  '{client} receives message {string} of queue {string}',
  async function (this: FeatureWorld, label: string, id: string, queue: string) {
    const { message } = await messages.receiveMessage(this, label, id);
    assert.equal(message.queue, await this.queueName(queue));
  },
);

Then(
  '{client} receives message {string} with payload {string}',
  async function (this: FeatureWorld, label: string, id: string, text: string) {
    const { message } = await messages.receiveMessage(this, label, id);
    assert.equal(message.payload.toString('utf8'), text);
  },
);

Then(
  '{client} receives message {string} with payload:',
  async function (this: FeatureWorld, label: string, id: string, text: string) {
    const { message } = await messages.receiveMessage(this, label, id);
    assert.equal(message.payload.toString('utf8'), text);
  },
);

Then(
  '{client} receives message {string} without payload',
  async function (this: FeatureWorld, label: string, id: string) {
    const { message } = await messages.receiveMessage(this, label, id);
    assert.equal(message.payload.length, 0);
  },
);

Then(
  '{client} receives message {string} with exactly these headers:',
  async function (this: FeatureWorld, label: string, id: string, table: DataTable) {
    const { message } = await messages.receiveMessage(this, label, id);
    assert.deepEqual(Object.fromEntries(message.headers), table.rowsHash());
  },
);

Then(
  '{client} receives message {string} with a payload of {size}',
  async function (this: FeatureWorld, label: string, id: string, sizeBytes: number) {
    const { message } = await messages.receiveMessage(this, label, id);
    assert.deepEqual(message.payload, messages.payloadOfSize(sizeBytes));
  },
);

Then(
  '{client} receives message {string} again, with header {string} {string}',
  async function (this: FeatureWorld, label: string, id: string, header: string, value: string) {
    const { message } = await messages.receiveMessage(this, label, id);
    assert.equal(message.headers.get(header), value);
  },
);

Then(
  '{client} receives message {string} again after {duration}',
  async function (this: FeatureWorld, label: string, id: string, gapMs: number) {
    await messages.receiveAgainAfter(this, label, { id, gapMs });
  },
);

Then(
  '{client} receives message {string} immediately',
  async function (this: FeatureWorld, label: string, id: string) {
    await messages.receiveImmediately(this, label, id);
  },
);

Then(
  '{client} receives message {string} again {duration} after the ack timeout',
  async function (this: FeatureWorld, label: string, id: string, pauseMs: number) {
    await messages.receiveAgainAfterAckTimeout(this, label, { id, pauseMs });
  },
);

Then(
  '{client} receives message {string} again {duration} after the ack timeout, with header {string} {string}',
  async function (
    this: FeatureWorld,
    label: string,
    id: string,
    pauseMs: number,
    header: string,
    value: string,
  ) {
    const { message } = await messages.receiveAgainAfterAckTimeout(this, label, { id, pauseMs });
    assert.equal(message.headers.get(header), value);
  },
);

Then(
  '{client} receives message {string} {duration} after {client}',
  async function (this: FeatureWorld, label: string, id: string, gapMs: number, since: string) {
    await messages.receiveAgainAfter(this, label, { id, gapMs, since });
  },
);

Then(
  '{client} receives message {string} {duration} after {client}, with header {string} {string}',
  async function (
    this: FeatureWorld,
    label: string,
    id: string,
    gapMs: number,
    since: string,
    header: string,
    value: string,
  ) {
    const { message } = await messages.receiveAgainAfter(this, label, { id, gapMs, since });
    assert.equal(message.headers.get(header), value);
  },
);

Then(
  '{client} receives message {string} with these headers among others:',
  async function (this: FeatureWorld, label: string, id: string, table: DataTable) {
    await messages.receiveWithHeaders(this, label, { id, rows: table.raw() });
  },
);

Then(
  'after the UnsubscribeAck {client} receives no message of queue {string}',
  async function (this: FeatureWorld, label: string, queue: string) {
    await messages.assertNothingAfterUnsubscribeAck(this, label, queue);
  },
);

Then(
  '{client} receives message {string} without header {string}',
  async function (this: FeatureWorld, label: string, id: string, header: string) {
    const { message } = await messages.receiveMessage(this, label, id);
    assert.equal(message.headers.get(header), undefined);
  },
);
