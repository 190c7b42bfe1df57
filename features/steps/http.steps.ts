// Steps about health and metrics over HTTP.

import assert from 'node:assert/strict';
import { type DataTable, Given, Then, When } from '@cucumber/cucumber';
import * as http from '../support/http.ts';
import type { FeatureWorld } from '../support/world.ts';

When('an HTTP client requests {string}', async function (this: FeatureWorld, path: string) {
  await http.request(this, path);
});

When(
  'an HTTP client sends {word} to {string}',
  async function (this: FeatureWorld, method: string, path: string) {
    await http.request(this, path, { method });
  },
);

When(
  'an HTTP client requests {string} from the host {string}',
  async function (this: FeatureWorld, path: string, host: string) {
    await http.request(this, path, { headers: { host } });
  },
);

When(
  'an HTTP client requests {string} from the origin {string}',
  async function (this: FeatureWorld, path: string, origin: string) {
    await http.request(this, path, { headers: { origin } });
  },
);

Then('the HTTP status is {int}', function (this: FeatureWorld, status: number) {
  assert.equal(http.lastAnswer(this).status, status);
});

Then('the JSON of the answer has:', function (this: FeatureWorld, table: DataTable) {
  http.assertJson(this, table.raw());
});

Then('the answer is a problem document', function (this: FeatureWorld) {
  http.assertProblem(this);
});

Then('the answer has no header {string}', function (this: FeatureWorld, header: string) {
  assert.equal(http.lastAnswer(this).headers.get(header), undefined);
});

Given('the numbers of {string} are noted', async function (this: FeatureWorld, path: string) {
  await http.noteNumbers(this, path);
});

Then(
  'these numbers of {string} have changed by:',
  async function (this: FeatureWorld, path: string, table: DataTable) {
    await http.assertChanges(this, path, table.raw());
  },
);

Then(
  'the average delivery latency is about {duration}',
  async function (this: FeatureWorld, durationMs: number) {
    await http.assertLatencyAbout(this, durationMs);
  },
);

Then(
  'these numbers of {string} have increased:',
  async function (this: FeatureWorld, path: string, table: DataTable) {
    await http.assertGrowth(this, path, table.raw().flat());
  },
);
