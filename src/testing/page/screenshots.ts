// `npm run screenshots`: a picture of each view of the dashboard's page, in light and dark, at the width of a desk and of a phone, in
// out/screenshots/. For people to look at: nothing is judged. Needs a built broker and Chromium.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import type { Client } from '../../client/index.ts';
import { chromiumPath, openBrowser, openPage, type Scheme } from './browser.ts';
import { startDashboardBroker } from './dashboard-broker.ts';

const folder = fileURLToPath(new URL('../../../out/screenshots', import.meta.url));
const views = {
  overview: '',
  queues: '?view=queues',
  queue: '?queue=invoices',
  'dead-letters': '?queue=payments.dlq',
} as const;
const schemes: readonly Scheme[] = ['light', 'dark'];
const widths = [1200, 400] as const;
/** Long enough for charts to have a line. */
const LOAD_MS = 20_000;

/** Queues with and without trouble, and messages that come and go while the pictures are taken. */
async function startLoad(client: Client): Promise<() => Promise<void>> {
  for (const queue of ['orders', 'invoices', 'mail', 'audit'])
    await client.createQueue(queue, { mode: 'RoundRobin' });
  await client.createQueue('payments', { messageTtlMs: 500, enableDeadLetterQueue: true });
  await client.createQueue('full', { maxQueueSize: 25, overflowStrategy: 'DropOldest' });
  for (const queue of ['orders', 'mail', 'audit']) await client.subscribe(queue, () => {});
  let isOn = true;
  const publish = async (): Promise<void> => {
    for (let n = 0; isOn; n += 1) {
      const message = { order: n, total: 9.5, items: [{ sku: 'a-1', amount: n % 5 }] };
      const queues = ['orders', 'mail', 'audit', ...(n % 20 === 0 ? ['invoices', 'payments', 'full'] : [])];
      await Promise.all(queues.map((queue) => client.publish(queue, message)));
      await new Promise((resolve) => setTimeout(resolve, 10 + 10 * Math.sin(n / 100)));
    }
  };
  const publishing = publish();
  return async () => {
    isOn = false;
    await publishing;
  };
}

async function takeAll(browser: Browser, url: string): Promise<void> {
  for (const [name, view] of Object.entries(views)) {
    for (const scheme of schemes) {
      for (const width of widths) {
        const { page } = await openPage(browser, { url: `${url}${view}`, scheme, width });
        await page.getByRole('heading', { level: 1 }).waitFor();
        if (view.startsWith('?queue=')) await page.locator('ol.messages a').first().click();
        await page.screenshot({
          path: join(folder, `${name}-${scheme}-${width}.png`),
          fullPage: width < 1000,
        });
        await page.context().close();
      }
    }
  }
}

const executable = chromiumPath();
if (executable === undefined) throw new Error('Chromium is not installed: apt-get install chromium');
mkdirSync(folder, { recursive: true });
const broker = await startDashboardBroker();
const client = await broker.connect();
const stopLoad = await startLoad(client);
await new Promise((resolve) => setTimeout(resolve, LOAD_MS));
const browser = await openBrowser(executable);
await takeAll(browser, broker.url);
await Promise.all([browser.close(), stopLoad()]);
await client.close();
await broker.stop();
console.log(`Pictures of ${Object.keys(views).length} views are in out/screenshots/.`);
