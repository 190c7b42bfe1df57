// Steps about connections and about commands as they are sent and answered, whatever they are for.

import { type DataTable, Given, Then, When } from '@cucumber/cucumber';
import { Command } from '../../src/protocol/command.ts';
import * as connection from '../support/connection.ts';
import { messageIds } from '../support/words.ts';
import { type FeatureWorld, ofCommand } from '../support/world.ts';

Given('{client} has opened a connection', async function (this: FeatureWorld, label: string) {
  await this.open(label);
  await this.settle();
});

Given('{client} is connected', async function (this: FeatureWorld, label: string) {
  await this.connect(label);
});

When(
  '{client} sends {command} with id {string}',
  async function (this: FeatureWorld, label: string, command: number, id: string) {
    await this.send(label, { command, id });
  },
);

When(
  '{client} sends {command} with id {string} for queue {string}',
  async function (this: FeatureWorld, label: string, command: number, id: string, queue: string) {
    await this.send(label, { command, id, queue: await this.queueName(queue) });
  },
);

When(
  '{client} sends {command} with id {string} and headers:',
  async function (this: FeatureWorld, label: string, command: number, id: string, table: DataTable) {
    await this.send(label, { command, id, headers: new Map(Object.entries(table.rowsHash())) });
  },
);

When(
  '{client} sends the command number {int} with id {string}',
  async function (this: FeatureWorld, label: string, command: number, id: string) {
    await this.send(label, { command, id });
  },
);

When(
  '{client} sends {command} of protocol version {int} with id {string}',
  async function (this: FeatureWorld, label: string, command: number, version: number, id: string) {
    await connection.sendOfVersion(this, label, { command, id, version });
  },
);

When(
  '{client} sends {command} with an id of {int} bytes',
  async function (this: FeatureWorld, label: string, command: number, length: number) {
    await this.send(label, { command, id: 'x'.repeat(length) });
  },
);

Then(
  '{client} receives {command} with that id',
  async function (this: FeatureWorld, label: string, command: number) {
    const { id } = this.lastCommand().fields;
    await this.receive(label, ofCommand(command, id), 'that answer with that id');
  },
);

When('{client} sends in one piece:', async function (this: FeatureWorld, label: string, table: DataTable) {
  await connection.sendTogether(this, label, table.hashes());
});

When(
  '{client} sends in one piece and ends its side of the connection:',
  async function (this: FeatureWorld, label: string, table: DataTable) {
    await connection.sendTogether(this, label, table.hashes(), { isLast: true });
  },
);

When('{client} disconnects', async function (this: FeatureWorld, label: string) {
  await this.sendAnyhow(label, { command: Command.Disconnect });
});

When('the connection of {client} breaks', async function (this: FeatureWorld, label: string) {
  await connection.breakOff(this, label);
});

When('{client} stops reading', async function (this: FeatureWorld, label: string) {
  (await this.client(label)).stopReading();
});

When('{client} resumes reading', async function (this: FeatureWorld, label: string) {
  (await this.client(label)).readOn();
});

Then(
  '{client} receives {command} with id {string}',
  async function (this: FeatureWorld, label: string, command: number, id: string) {
    await this.receive(label, ofCommand(command, id), `that answer with id ${id}`);
  },
);

Then(
  '{client} receives {command} with id {string} and queue {string}',
  async function (this: FeatureWorld, label: string, command: number, id: string, queue: string) {
    await connection.receiveWithQueue(this, label, { command, id, queue });
  },
);

Then(
  '{client} receives Error {errorCode} with id {string}',
  async function (this: FeatureWorld, label: string, code: string, id: string) {
    await connection.receiveError(this, label, { code, id });
  },
);

Then(
  '{client} receives Error {errorCode} with each of the ids {string}',
  async function (this: FeatureWorld, label: string, code: string, ids: string) {
    for (const id of messageIds(ids)) await connection.receiveError(this, label, { code, id });
  },
);

Then(
  '{client} receives Error {errorCode} with a new id',
  async function (this: FeatureWorld, label: string, code: string) {
    await connection.receiveErrorOfOwnId(this, label, code);
  },
);

Then(
  '{client} receives in this order:',
  async function (this: FeatureWorld, label: string, table: DataTable) {
    await connection.receiveInOrder(this, label, table.hashes());
  },
);

Then('{client} has received nothing', async function (this: FeatureWorld, label: string) {
  await this.receiveNo(label, () => true, 'something');
});

Then('the connection of {client} is open', async function (this: FeatureWorld, label: string) {
  await connection.assertOpen(this, label);
});

Then('the connection of {client} stays open', async function (this: FeatureWorld, label: string) {
  await connection.assertServed(this, label);
});

Then('the broker closes the connection of {client}', async function (this: FeatureWorld, label: string) {
  await this.waitUntilClosed(label);
});

Then('the broker serves a new connection', async function (this: FeatureWorld) {
  await this.connect('a new client');
});

Then(
  '{client} receives a ConnectAck with a value in each of these headers:',
  async function (this: FeatureWorld, label: string, table: DataTable) {
    await connection.receiveConnectAckWith(this, label, table.raw().flat());
  },
);

Then(
  '{client} receives a ConnectAck whose header {string} lists {string} and {string}',
  async function (this: FeatureWorld, label: string, header: string, one: string, other: string) {
    await connection.receiveConnectAckListing(this, label, { header, entries: [one, other] });
  },
);

Then(
  '{client} receives {command} whose header {string} is {string}',
  async function (this: FeatureWorld, label: string, command: number, header: string, value: string) {
    await connection.receiveWithHeader(this, label, { command, header, value });
  },
);
