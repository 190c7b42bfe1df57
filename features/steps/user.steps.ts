// Steps about credentials, users and their rights.

import { type DataTable, Given, Then, When } from '@cucumber/cucumber';
import { Command } from '../../src/protocol/command.ts';
import * as users from '../support/users.ts';
import type { FeatureWorld } from '../support/world.ts';

Given('a broker that requires the token {string}', function (this: FeatureWorld, token: string) {
  users.requireToken(this, token);
});

Given('a broker with users', function (this: FeatureWorld) {
  users.turnAuthorizationOn(this);
});

Given(
  'a broker with users that also accepts the token {string}',
  function (this: FeatureWorld, token: string) {
    users.requireToken(this, token);
    users.turnAuthorizationOn(this);
  },
);

Given(
  'user {string} with password {string}',
  async function (this: FeatureWorld, username: string, password: string) {
    await users.createUser(this, { username, password });
  },
);

Given(
  'user {string} with password {string} and these rights:',
  async function (this: FeatureWorld, username: string, password: string, table: DataTable) {
    await users.createUser(this, { username, password }, table.hashes());
  },
);

Given(
  '{client} is connected as user {string} with password {string}',
  async function (this: FeatureWorld, label: string, username: string, password: string) {
    await this.connect(label, await users.userHeaders(this, { username, password }));
  },
);

Given(
  '{client} is connected with the token {string}',
  async function (this: FeatureWorld, label: string, token: string) {
    await this.connect(label, users.tokenHeaders(token));
  },
);

When(
  '{client} connects as user {string} with password {string}',
  async function (this: FeatureWorld, label: string, username: string, password: string) {
    await users.sendConnect(this, label, await users.userHeaders(this, { username, password }));
  },
);

When(
  '{client} connects with the token {string}',
  async function (this: FeatureWorld, label: string, token: string) {
    await users.sendConnect(this, label, users.tokenHeaders(token));
  },
);

When(
  '{client} connects with the token {string} and as user {string} with password {string}',
  async function (this: FeatureWorld, label: string, token: string, username: string, password: string) {
    const headers = await users.userHeaders(this, { username, password });
    await users.sendConnect(this, label, new Map([...users.tokenHeaders(token), ...headers]));
  },
);

When('{client} connects without credentials', async function (this: FeatureWorld, label: string) {
  await users.sendConnect(this, label, new Map());
});

When(
  'user {string} is granted {string} on {string}',
  async function (this: FeatureWorld, username: string, operations: string, queuePattern: string) {
    await users.grant(this, username, { operations, queuePattern });
  },
);

When(
  'user {string} is revoked {string}',
  async function (this: FeatureWorld, username: string, queuePattern: string) {
    await users.administer(this, Command.AdminRevokePermission, { username, queuePattern });
  },
);

When('user {string} is deleted', async function (this: FeatureWorld, username: string) {
  await users.administer(this, Command.AdminDeleteUser, { username });
});

When(
  'the password of user {string} is changed to {string}',
  async function (this: FeatureWorld, username: string, newPassword: string) {
    await users.administer(this, Command.AdminChangePassword, { username, newPassword });
  },
);

When(
  '{client} sends {command} about:',
  async function (this: FeatureWorld, label: string, command: number, table: DataTable) {
    await users.sendAdmin(this, label, command, table.rowsHash());
  },
);

When(
  '{client} sends {command} without payload',
  async function (this: FeatureWorld, label: string, command: number) {
    await users.sendAdmin(this, label, command);
  },
);

Then('the answer repeats:', async function (this: FeatureWorld, table: DataTable) {
  await users.assertAnswer(this, table.rowsHash());
});

Then('the answer lists these rights:', async function (this: FeatureWorld, table: DataTable) {
  await users.assertPermissions(this, table.hashes());
});

Then('the answer lists no rights', async function (this: FeatureWorld) {
  await users.assertPermissions(this, []);
});

Then('the answer lists these users:', async function (this: FeatureWorld, table: DataTable) {
  await users.assertListed(this, table.hashes());
});

Then(
  '{client} is shown the queues {string}',
  async function (this: FeatureWorld, label: string, names: string) {
    await users.assertShown(this, label, names);
  },
);
