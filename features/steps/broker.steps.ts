// Steps about the broker as a whole: its settings, the passing of time, its end.

import { type DataTable, Given, Then, When } from '@cucumber/cucumber';
import { applySettings } from '../support/settings.ts';
import * as shutdown from '../support/shutdown.ts';
import type { FeatureWorld } from '../support/world.ts';

Given('a broker with these settings:', function (this: FeatureWorld, table: DataTable) {
  applySettings(this.settings, table.raw());
});

// Scenarios with equal settings share a broker over TCP, and together they open many connections from one address.
Given(
  'a broker that accepts {int} messages per client and second',
  function (this: FeatureWorld, count: number) {
    applySettings(this.settings, [
      ['rateLimit', 'on'],
      ['maxConnectionsPerIpPerWindow', '1000'],
      ['maxMessagesPerClientPerSecond', String(count)],
    ]);
  },
);

Given('a broker that no other scenario uses', function (this: FeatureWorld) {
  applySettings(this.settings, [['maxQueues', '4321']]);
});

When('{duration} pass(es)', async function (this: FeatureWorld, durationMs: number) {
  await this.pass(durationMs);
});

When('the broker is stopped', async function (this: FeatureWorld) {
  await shutdown.stop(this);
});

Then('the broker stops normally', async function (this: FeatureWorld) {
  await shutdown.waitForEnd(this);
});

Then('the broker is still running', async function (this: FeatureWorld) {
  await shutdown.assertRunning(this);
});

Then('no new connection is served', async function (this: FeatureWorld) {
  await shutdown.assertNoNewConnection(this);
});
