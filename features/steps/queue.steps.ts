// Steps about queues: made, looked at, listed, deleted.

import assert from 'node:assert/strict';
import { type DataTable, Given, Then, When } from '@cucumber/cucumber';
import { Command } from '../../src/protocol/command.ts';
import * as queues from '../support/queues.ts';
import { type FeatureWorld, ofCommand } from '../support/world.ts';

Given('queue {string} exists', async function (this: FeatureWorld, name: string) {
  await queues.createQueue(this, name);
});

Given(
  'queue {string} exists with options:',
  async function (this: FeatureWorld, name: string, table: DataTable) {
    await queues.createQueue(this, name, table.raw());
  },
);

Given(
  'queue {string} exists with a message TTL of {duration}',
  async function (this: FeatureWorld, name: string, ttlMs: number) {
    await queues.createQueueWithTtl(this, name, { ttlMs, rows: [] });
  },
);

Given(
  'queue {string} exists with a message TTL of {duration} and options:',
  async function (this: FeatureWorld, name: string, ttlMs: number, table: DataTable) {
    await queues.createQueueWithTtl(this, name, { ttlMs, rows: table.raw() });
  },
);

When('{client} creates queue {string}', async function (this: FeatureWorld, label: string, name: string) {
  await this.sendAnyhow(label, { command: Command.CreateQueue, queue: await this.queueName(name) });
});

When(
  '{client} creates queue {string} with options:',
  async function (this: FeatureWorld, label: string, name: string, table: DataTable) {
    const payload = await queues.optionsPayload(this, table.raw());
    await this.sendAnyhow(label, {
      command: Command.CreateQueue,
      queue: await this.queueName(name),
      ...payload,
    });
  },
);

When(
  '{client} creates queue {string} with the payload:',
  async function (this: FeatureWorld, label: string, name: string, text: string) {
    const queue = await this.queueName(name);
    await this.sendAnyhow(label, { command: Command.CreateQueue, queue, payload: Buffer.from(text) });
  },
);

When('{client} deletes queue {string}', async function (this: FeatureWorld, label: string, name: string) {
  await this.sendAnyhow(label, { command: Command.DeleteQueue, queue: await this.queueName(name) });
});

When(
  '{client} asks for the info of queue {string}',
  async function (this: FeatureWorld, label: string, name: string) {
    await this.sendAnyhow(label, { command: Command.QueueInfo, queue: await this.queueName(name) });
  },
);

Then('the command succeeds', async function (this: FeatureWorld) {
  const { message } = await this.answer();
  assert.notEqual(message.command, Command.Error, `${message.errorCode}: ${message.errorMessage}`);
});

Then('the command is refused with {errorCode}', async function (this: FeatureWorld, code: string) {
  const { message } = await this.answer();
  assert.deepEqual([message.command, message.errorCode], [Command.Error, code]);
});

Then('the answer is {command} without payload', async function (this: FeatureWorld, command: number) {
  const { message } = await this.answer();
  assert.deepEqual([message.command, message.payload.length], [command, 0]);
});

Then('queue {string} still exists', async function (this: FeatureWorld, name: string) {
  await queues.assertExists(this, name, true);
});

Then('queue {string} does not exist', async function (this: FeatureWorld, name: string) {
  await queues.assertExists(this, name, false);
});

Then(
  'queue {string} has these properties:',
  async function (this: FeatureWorld, name: string, table: DataTable) {
    await queues.assertInfo(this, name, table.raw());
  },
);

Then(
  'queue {string} has {int} waiting message(s)',
  async function (this: FeatureWorld, name: string, count: number) {
    await queues.assertInfo(this, name, [['messageCount', String(count)]]);
  },
);

Then(
  'queue {string} eventually has {int} waiting message(s)',
  async function (this: FeatureWorld, name: string, count: number) {
    await queues.waitForCount(this, name, count);
  },
);

Then(
  'queue {string} has {int} subscriber(s)',
  async function (this: FeatureWorld, name: string, count: number) {
    await queues.assertInfo(this, name, [['subscriberCount', String(count)]]);
  },
);

Then('queue {string} was created just now', async function (this: FeatureWorld, name: string) {
  await queues.assertCreatedNow(this, name);
});

Then('the list of queues is {string}', async function (this: FeatureWorld, names: string) {
  const expected = names === '' ? [] : names.split(',').map((name) => name.trim());
  assert.deepEqual([...(await queues.listQueues(this))].sort(), expected.sort());
});

When(
  '{client} creates a queue whose name has {int} letters',
  async function (this: FeatureWorld, label: string, length: number) {
    const queue = await this.queueName(await queues.nameOfLength(this, length));
    await this.sendAnyhow(label, { command: Command.CreateQueue, queue });
  },
);

When(
  '{client} creates a queue whose name has {int} letters with options:',
  async function (this: FeatureWorld, label: string, length: number, table: DataTable) {
    const queue = await this.queueName(await queues.nameOfLength(this, length));
    const payload = await queues.optionsPayload(this, table.raw());
    await this.sendAnyhow(label, { command: Command.CreateQueue, queue, ...payload });
  },
);

Then(
  '{client} receives a list of queues with id {string}',
  async function (this: FeatureWorld, label: string, id: string) {
    const { message } = await this.receive(label, ofCommand(Command.ListQueues, id), 'a ListQueues');
    assert.ok(Array.isArray(JSON.parse(message.payload.toString('utf8'))));
  },
);
