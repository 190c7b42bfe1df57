// What all tests of a file about the dashboard's page share: a browser, a broker with its dashboard, and a client of it. Without Chromium they are
// not shown.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { Client } from '../../client/index.ts';
import { notShown } from '../not-shown.ts';
import { chromiumPath, openBrowser } from './browser.ts';
import { type DashboardBroker, startDashboardBroker } from './dashboard-broker.ts';

/** How long a page may take to show what has changed. */
export const soon = { timeout: 15_000, interval: 100 } as const;

type PageSetting = { browser: Browser; broker: DashboardBroker; client: Client };

/** The setting has its values from the first test on. `fill` is called once, before it. */
export function setUpPages(fill: (client: Client) => Promise<void> = async () => {}): Readonly<PageSetting> {
  const executable = chromiumPath();
  const setting = {} as PageSetting;

  beforeAll(async () => {
    if (executable === undefined) return;
    [setting.browser, setting.broker] = await Promise.all([openBrowser(executable), startDashboardBroker()]);
    setting.client = await setting.broker.connect();
    await fill(setting.client);
  });

  afterAll(async () => {
    await setting.client?.close();
    await Promise.all([setting.browser?.close(), setting.broker?.stop()]);
  });

  beforeEach((context) => {
    if (executable === undefined) notShown(context, 'Chromium is not installed: apt-get install chromium');
  });
  return setting;
}

/** Makes queues of all kinds: with messages that wait, in flight, dead, and none. */
export async function fillQueues(client: Client): Promise<void> {
  await client.createQueue('orders', { mode: 'RoundRobin', maxQueueSize: 1_000 });
  for (let n = 1; n <= 60; n += 1) await client.publish('orders', { n, items: [{ sku: 'a-1', amount: 2 }] });
  await client.publish('empty', { first: true });
  await client.subscribe('empty', () => {});
  await client.createQueue('letters', { messageTtlMs: 1, enableDeadLetterQueue: true });
  for (let n = 1; n <= 3; n += 1) await client.publish('letters', { letter: n });
}
