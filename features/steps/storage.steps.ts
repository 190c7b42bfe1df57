// Steps about durable storage: a broker that is stopped or killed and comes back, and a disk that fails.

import { Given, Then, When } from '@cucumber/cucumber';
import * as restart from '../support/restart.ts';
import type { FeatureWorld } from '../support/world.ts';

Given('a broker with a durable store', function (this: FeatureWorld) {
  this.settings.set('storage', 'sqlite');
});

When('the broker is stopped and started again', async function (this: FeatureWorld) {
  await restart.restart(this);
});

When('the broker is killed', async function (this: FeatureWorld) {
  await restart.crash(this);
});

When('the broker is started again', async function (this: FeatureWorld) {
  await restart.startAgain(this);
});

When('the broker is killed and started again', async function (this: FeatureWorld) {
  await restart.crash(this);
  await restart.startAgain(this);
});

When('the disk is full', async function (this: FeatureWorld) {
  await restart.fillDisk(this, true);
});

When('the disk has room again', async function (this: FeatureWorld) {
  await restart.fillDisk(this, false);
});

When(
  '{client} connects again as soon as the broker accepts it',
  async function (this: FeatureWorld, label: string) {
    await restart.connectAgain(this, label);
  },
);

Then(
  '{client} is refused at Connect with {errorCode}',
  async function (this: FeatureWorld, label: string, code: string) {
    await restart.assertNotLetIn(this, label, code);
  },
);

Given('the creation time of queue {string} is noted', async function (this: FeatureWorld, queue: string) {
  await restart.noteCreation(this, queue);
});

Then('queue {string} has the noted creation time', async function (this: FeatureWorld, queue: string) {
  await restart.assertSameCreation(this, queue);
});
