// Steps about what an operator sees and does in the dashboard.

import { Then, When } from '@cucumber/cucumber';
import * as operator from '../support/operator.ts';
import type { FeatureWorld } from '../support/world.ts';

When('an operator lists the messages of queue {string}', async function (this: FeatureWorld, queue: string) {
  await operator.ask(this, 'GET', { queue, rest: '/messages' });
});

When(
  'an operator lists the messages of queue {string} with limit {int} and offset {int}',
  async function (this: FeatureWorld, queue: string, limit: number, offset: number) {
    await operator.ask(this, 'GET', { queue, rest: `/messages?limit=${limit}&offset=${offset}` });
  },
);

When(
  'an operator looks at message {string} of queue {string}',
  async function (this: FeatureWorld, id: string, queue: string) {
    await operator.ask(this, 'GET', { queue, rest: `/messages/${id}` });
  },
);

When(
  'an operator removes message {string} from queue {string}',
  async function (this: FeatureWorld, id: string, queue: string) {
    await operator.ask(this, 'DELETE', { queue, rest: `/messages/${id}` });
  },
);

When(
  'a page of {string} removes message {string} from queue {string}',
  async function (this: FeatureWorld, origin: string, id: string, queue: string) {
    await operator.ask(this, 'DELETE', { queue, rest: `/messages/${id}`, headers: { origin } });
  },
);

When(
  'an operator requeues message {string} of queue {string}',
  async function (this: FeatureWorld, id: string, queue: string) {
    await operator.ask(this, 'POST', { queue, rest: `/messages/${id}/requeue` });
  },
);

When('an operator purges queue {string}', async function (this: FeatureWorld, queue: string) {
  await operator.ask(this, 'DELETE', { queue, rest: '/messages' });
});

When('an operator deletes queue {string}', async function (this: FeatureWorld, queue: string) {
  await operator.ask(this, 'DELETE', { queue, rest: '' });
});

Then('the operator sees {messages}', function (this: FeatureWorld, ids: readonly string[]) {
  operator.assertMessages(this, ids);
});

Then(
  'the operator sees header {string} {string}',
  function (this: FeatureWorld, header: string, value: string) {
    operator.assertHeader(this, header, value);
  },
);
