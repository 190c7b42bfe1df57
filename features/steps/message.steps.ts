// Steps about messages: published, delivered, acknowledged.

import { type DataTable, Then, When } from '@cucumber/cucumber';
import { Command } from '../../src/protocol/command.ts';
import * as messages from '../support/messages.ts';
import { type FeatureWorld, ofCommand } from '../support/world.ts';

When(
  '{client} publishes {messages} to queue {string}',
  async function (this: FeatureWorld, label: string, ids: readonly string[], queue: string) {
    await messages.publishAll(this, label, ids, { queue });
  },
);

When(
  '{client} publishes {messages} to queue {string} with payload {string}',
  async function (this: FeatureWorld, label: string, ids: readonly string[], queue: string, text: string) {
    await messages.publishAll(this, label, ids, { queue, payload: Buffer.from(text) });
  },
);

When(
  '{client} publishes {messages} to queue {string} with payload:',
  async function (this: FeatureWorld, label: string, ids: readonly string[], queue: string, text: string) {
    await messages.publishAll(this, label, ids, { queue, payload: Buffer.from(text) });
  },
);

When(
  '{client} publishes {messages} to queue {string} without payload',
  async function (this: FeatureWorld, label: string, ids: readonly string[], queue: string) {
    await messages.publishAll(this, label, ids, { queue, payload: Buffer.alloc(0) });
  },
);

When(
  '{client} publishes {messages} to queue {string} with headers:',
  async function (
    this: FeatureWorld,
    label: string,
    ids: readonly string[],
    queue: string,
    table: DataTable,
  ) {
    const headers = new Map(Object.entries(table.rowsHash()));
    await messages.publishAll(this, label, ids, { queue, headers });
  },
);

When(
  '{client} publishes {messages} to queue {string} with priority {word}',
  async function (
    this: FeatureWorld,
    label: string,
    ids: readonly string[],
    queue: string,
    priority: string,
  ) {
    await messages.publishAll(this, label, ids, { queue, headers: new Map([['priority', priority]]) });
  },
);

When(
  '{client} publishes {messages} of {size} (each )to queue {string}',
  async function (
    this: FeatureWorld,
    label: string,
    ids: readonly string[],
    sizeBytes: number,
    queue: string,
  ) {
    await messages.publishAll(this, label, ids, { queue, payload: messages.payloadOfSize(sizeBytes) });
  },
);

When(
  '{client} publishes {messages} with {int} headers to queue {string}',
  async function (this: FeatureWorld, label: string, ids: readonly string[], count: number, queue: string) {
    const headers = new Map(Array.from({ length: count }, (_, index) => [`header-${index}`, 'value']));
    await messages.publishAll(this, label, ids, { queue, headers });
  },
);

When(
  '{client} publishes {messages} with a header value of {int} characters to queue {string}',
  async function (this: FeatureWorld, label: string, ids: readonly string[], length: number, queue: string) {
    const headers = new Map([['long', 'x'.repeat(length)]]);
    await messages.publishAll(this, label, ids, { queue, headers });
  },
);

When(
  '{client} publishes {messages} to queue {string} with a payload nested {int} levels deep',
  async function (this: FeatureWorld, label: string, ids: readonly string[], queue: string, depth: number) {
    const payload = Buffer.from('['.repeat(depth) + ']'.repeat(depth));
    await messages.publishAll(this, label, ids, { queue, payload });
  },
);

When(
  '{client} publishes {messages} to queue {string} with the payload bytes {string}',
  async function (this: FeatureWorld, label: string, ids: readonly string[], queue: string, hex: string) {
    const payload = Buffer.from(hex.replaceAll(' ', ''), 'hex');
    await messages.publishAll(this, label, ids, { queue, payload });
  },
);

Then(
  '{messages} is/are confirmed to {client}',
  async function (this: FeatureWorld, ids: readonly string[], label: string) {
    await messages.receivePublishAck(this, label, ids);
  },
);

Then(
  '{messages} is/are not confirmed to {client}',
  async function (this: FeatureWorld, ids: readonly string[], label: string) {
    for (const id of ids) await this.receiveNo(label, ofCommand(Command.PublishAck, id), 'a PublishAck');
  },
);

Then(
  'message {string} of {client} is refused with {errorCode}',
  async function (this: FeatureWorld, id: string, label: string, code: string) {
    await messages.assertRefused(this, label, { id, code });
  },
);

When(
  '{client} publishes {messages} of {size} to queue {string}, each when the one before has arrived',
  async function (
    this: FeatureWorld,
    label: string,
    ids: readonly string[],
    sizeBytes: number,
    queue: string,
  ) {
    const payload = messages.payloadOfSize(sizeBytes);
    for (const id of ids) await messages.publish(this, label, { id, queue, payload });
  },
);
