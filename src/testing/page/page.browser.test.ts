// The dashboard's page in a browser, on a broker with messages: what it shows is what the protocol says, what it does is done, and it works with
// the keyboard, and after the broker was away.

import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { openPage } from './browser.ts';
import { startDashboardBroker } from './dashboard-broker.ts';
import { fillQueues, setUpPages, soon } from './page-setting.ts';

const setting = setUpPages(fillQueues);

async function waitingIn(queue: string): Promise<number | undefined> {
  return (await setting.client.queueInfo(queue))?.messageCount;
}

/** What stands behind a term of a list of figures. */
async function figure(page: Page, name: string): Promise<string> {
  const term = page.locator('dl.figures > div', { has: page.getByText(name, { exact: true }) });
  return (await term.locator('dd').innerText()).trim();
}

describe('the overview', () => {
  it('says in words how many messages wait, as the protocol does', async () => {
    const { page, misdeeds } = await openPage(setting.browser, { url: setting.broker.url });
    const heading = page.getByRole('heading', { level: 1 });
    const names = await setting.client.listQueues();
    const counts = await Promise.all(names.map(waitingIn));
    const waiting = counts.reduce<number>((sum, count) => sum + (count ?? 0), 0);
    await expect.poll(() => heading.innerText(), soon).toMatch(/^Healthy\. /);
    await expect.poll(() => heading.innerText(), soon).toContain(`${waiting} messages wait in`);
    expect(await heading.innerText()).toContain(`of ${names.length} queues`);
    expect(misdeeds).toEqual({ complaints: [], foreign: [] });
    await page.context().close();
  });

  it('shows the rates of a load that runs, within what was published', async () => {
    const { page } = await openPage(setting.browser, { url: setting.broker.url });
    let isOn = true;
    const load = (async () => {
      while (isOn)
        await Promise.all(Array.from({ length: 20 }, () => setting.client.publish('empty', { load: true })));
    })();
    const shown = async () => Number((await figure(page, 'Published')).replaceAll(/[^\d.]/g, ''));
    await expect.poll(shown, soon).toBeGreaterThan(20);
    isOn = false;
    await load;
    await expect.poll(shown, soon).toBe(0);
    expect(await page.locator('canvas').count()).toBe(4);
    await page.context().close();
  });
});

describe('the list of queues', () => {
  it('has a row for each queue, sorted and searched by the address', async () => {
    const { page, misdeeds } = await openPage(setting.browser, {
      url: `${setting.broker.url}?view=queues&sort=name&order=asc`,
    });
    const names = () => page.locator('table.queues th[scope=row] a').allInnerTexts();
    const all = [...(await setting.client.listQueues())].sort();
    await expect.poll(names, soon).toEqual(all);
    await page.keyboard.press('/');
    await page.keyboard.type('lett');
    await expect.poll(names, soon).toEqual(all.filter((name) => name.includes('lett')));
    expect(page.url()).toContain('search=lett');
    await page.keyboard.press('Escape');
    await expect.poll(names, soon).toEqual(all);
    expect(misdeeds).toEqual({ complaints: [], foreign: [] });
    await page.context().close();
  });

  it.each([320, 721, 768, 1024])('shows a short name whole beside its trouble, %s wide', async (width) => {
    const { page } = await openPage(setting.browser, {
      url: `${setting.broker.url}?view=queues&search=orders`,
      width,
    });
    const line = page.locator('.name-line', { has: page.getByText('orders', { exact: true }) });
    await line.getByText('no subscribers').waitFor();
    const isWhole = await line.locator('a').evaluate((link) => {
      const { clientWidth, scrollWidth } = link as unknown as Record<'clientWidth' | 'scrollWidth', number>;
      return clientWidth > 0 && scrollWidth <= clientWidth;
    });
    expect(isWhole).toBe(true);
    await page.context().close();
  });

  it('cuts a long name and its troubles alike, 320 wide', async () => {
    const long = 'long-'.repeat(50);
    await setting.client.createQueue(long, { maxQueueSize: 1 });
    await setting.client.publish(long, 1);
    const { page } = await openPage(setting.browser, {
      url: `${setting.broker.url}?view=queues&search=long`,
      width: 320,
    });
    await page.locator('.trouble').nth(1).waitFor();
    const edges = (selector: string) =>
      page
        .locator(selector)
        .last()
        .evaluate((element) => {
          const { left, right } = (
            element as unknown as { getBoundingClientRect(): Record<'left' | 'right', number> }
          ).getBoundingClientRect();
          return { left, right };
        });
    const [name, trouble, waiting] = [
      await edges('.name-line a'),
      await edges('.trouble'),
      await edges('.row .c-waiting'),
    ];
    expect(trouble.right).toBeLessThanOrEqual(waiting.left);
    expect(name.right - name.left).toBeGreaterThan(60);
    await page.context().close();
    await setting.client.deleteQueue(long);
  });

  it('opens a queue by the keyboard, and goes back', async () => {
    const { page } = await openPage(setting.browser, { url: setting.broker.url });
    await page.keyboard.press('g');
    await page.keyboard.press('q');
    await page.getByRole('heading', { level: 1, name: 'Queues' }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('orders');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'orders' }).waitFor();
    expect(page.url()).toContain('?queue=orders');
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Queues' }).waitFor();
    await page.context().close();
  });

  it('draws only the rows on the screen when there are 2,000 queues', async () => {
    const many = Array.from({ length: 2_000 }, (_, n) => `many-${String(n).padStart(4, '0')}`);
    await Promise.all(many.map((name) => setting.client.createQueue(name)));
    const { page } = await openPage(setting.browser, {
      url: `${setting.broker.url}?view=queues&sort=name&order=asc&search=many`,
    });
    // New queues come a few at a time, at a bounded rate; a page that is loaded again has all.
    const found = async () => {
      await page.reload();
      await page.getByText('Live', { exact: true }).waitFor();
      return page.getByRole('search').innerText();
    };
    await expect.poll(found, { timeout: 15_000, interval: 500 }).toMatch(/2\s000 of/);
    const rows = page.locator('table.queues tr.row');
    expect(await rows.count()).toBeGreaterThan(10);
    expect(await rows.count()).toBeLessThan(100);
    await page.evaluate('scrollTo(0, document.body.scrollHeight)');
    await page.getByRole('link', { name: 'many-1999' }).waitFor();
    await page.context().close();
    await Promise.all(many.map((name) => setting.client.deleteQueue(name)));
  });
});

describe('a queue', () => {
  it('shows its messages, and the payload of one', async () => {
    const { page, misdeeds } = await openPage(setting.browser, { url: `${setting.broker.url}?queue=orders` });
    await expect.poll(() => figure(page, 'Waiting'), soon).toBe('60');
    await page.locator('ol.messages a').first().click();
    expect(page.url()).toContain('message=');
    await expect.poll(() => page.locator('main').innerText(), soon).toMatch(/"sku":\s*"a-1"/);
    expect(misdeeds).toEqual({ complaints: [], foreign: [] });
    await page.context().close();
  });

  it('removes a message, after a question that says which', async () => {
    const before = await waitingIn('orders');
    const { page } = await openPage(setting.browser, { url: `${setting.broker.url}?queue=orders` });
    await page.locator('ol.messages a').first().click();
    await page.getByRole('button', { name: 'Remove …', exact: true }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.innerText()).toContain('orders');
    await dialog.getByRole('button', { name: 'Remove 1 message' }).click();
    await expect
      .poll(() => page.getByRole('status', { name: 'Reports' }).innerText(), soon)
      .toContain('1 message removed from orders');
    expect(await waitingIn('orders')).toBe((before ?? 0) - 1);
    await expect.poll(() => figure(page, 'Waiting'), soon).toBe(String((before ?? 0) - 1));
    expect(await page.getByText('the queue has changed since').count()).toBe(0);
    await page.context().close();
  });

  it('requeues dead letters to their source', async () => {
    await expect.poll(() => waitingIn('letters.dlq'), soon).toBe(3);
    const { page } = await openPage(setting.browser, { url: `${setting.broker.url}?queue=letters.dlq` });
    await page.getByText('Select all 3 on this page').click();
    await page.getByRole('button', { name: 'Requeue selected' }).click();
    await expect
      .poll(() => page.getByRole('status', { name: 'Reports' }).innerText(), soon)
      .toMatch(/3 messages .*requeued to letters/);
    // They expire there again: a new age is a new time to live.
    await expect.poll(() => waitingIn('letters.dlq'), soon).toBe(3);
    await page.context().close();
  });

  it('tells two dead letters with one id by the queue they come from', async () => {
    for (const source of ['twin-a', 'twin-b']) {
      await setting.client.createQueue(source, {
        messageTtlMs: 1,
        enableDeadLetterQueue: true,
        deadLetterQueueName: 'twins.dlq',
      });
      await setting.client.publish(source, { of: source }, { id: 'same' });
    }
    await expect.poll(() => waitingIn('twins.dlq'), soon).toBe(2);
    const { page } = await openPage(setting.browser, { url: `${setting.broker.url}?queue=twins.dlq` });
    const fromB = page.locator('ol.messages a', { hasText: 'from twin-b' });
    await fromB.click();
    expect(page.url()).toContain('message=same&source=twin-b');
    await expect.poll(() => page.locator('article.pane').innerText(), soon).toMatch(/of:\s*"twin-b"/);
    expect(await page.locator('ol.messages li.open').count()).toBe(1);
    await page.getByLabel('Select message same from twin-b').check();
    expect(await page.locator('ol.messages input:checked').count()).toBe(1);
    await page.getByRole('button', { name: 'Remove …', exact: true }).click();
    expect(await page.getByRole('dialog').innerText()).toContain('Message same from twin-b');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove 1 message' }).click();
    await expect
      .poll(() => page.locator('ol.messages .message-reason').allInnerTexts(), soon)
      .toEqual([expect.stringContaining('from twin-a')]);
    expect(await waitingIn('twins.dlq')).toBe(1);
    await page.context().close();
  });

  it('does one action at a time, and has the focus in the list after it', async () => {
    for (let n = 1; n <= 3; n += 1) await setting.client.publish('one-by-one', { n }, { id: `one-${n}` });
    const { page } = await openPage(setting.browser, { url: `${setting.broker.url}?queue=one-by-one` });
    let allow = () => {};
    const isAllowed = new Promise<void>((resolve) => {
      allow = resolve;
    });
    await page.route('**/messages/one-2', async (route) => {
      await isAllowed;
      await route.continue();
    });
    await page.locator('ol.messages a').nth(1).click();
    await page.getByLabel('Select message one-2').check();
    const removeOne = page.getByRole('button', { name: 'Remove …', exact: true });
    await removeOne.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove 1 message' }).press('Enter');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await removeOne.isDisabled()).toBe(true);
    expect(await page.getByRole('button', { name: 'Remove selected …' }).isDisabled()).toBe(true);
    allow();
    await expect.poll(() => page.locator('ol.messages a').count(), soon).toBe(2);
    const focused = () => page.evaluate<string>('document.activeElement.innerText');
    await expect.poll(focused, soon).toContain('one-3');
    await page.context().close();
  });

  it('has a next page also after a list of large messages that ended early', async () => {
    const text = 'x'.repeat(600 * 1024);
    for (let n = 1; n <= 18; n += 1) await setting.client.publish('large', text, { id: `large-${n}` });
    const { page } = await openPage(setting.browser, { url: `${setting.broker.url}?queue=large` });
    const ids = () => page.locator('ol.messages .message-id').allInnerTexts();
    await page.getByRole('link', { name: 'Next' }).click();
    await expect.poll(ids, soon).toEqual(['large-17', 'large-18']);
    expect(page.url()).toContain('offset=16');
    await page.getByRole('link', { name: 'Previous' }).click();
    await expect.poll(async () => (await ids()).length, soon).toBe(16);
    await page.context().close();
    await setting.client.deleteQueue('large');
  });

  it('purges what waits', async () => {
    await setting.client.publish('to-purge', { n: 1 });
    const { page } = await openPage(setting.browser, { url: `${setting.broker.url}?queue=to-purge` });
    await page.getByRole('button', { name: 'Purge …' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Purge to-purge' }).click();
    await expect.poll(() => waitingIn('to-purge'), soon).toBe(0);
    await expect.poll(() => figure(page, 'Waiting'), soon).toBe('0');
    await page.context().close();
  });

  it('is deleted only when its name was typed', async () => {
    await setting.client.publish('to-delete', { n: 1 });
    const { page } = await openPage(setting.browser, { url: `${setting.broker.url}?queue=to-delete` });
    await page.getByRole('button', { name: 'Delete …' }).click();
    const confirm = page.getByRole('dialog').getByRole('button', { name: 'Delete to-delete' });
    expect(await confirm.isDisabled()).toBe(true);
    await page.getByRole('dialog').getByRole('textbox').fill('to-delet');
    expect(await confirm.isDisabled()).toBe(true);
    await page.getByRole('dialog').getByRole('textbox').fill('to-delete');
    await confirm.click();
    await expect.poll(() => waitingIn('to-delete'), soon).toBeUndefined();
    await page.getByRole('heading', { level: 1, name: 'Queues' }).waitFor();
    await page.context().close();
  });

  it('with the name of no queue says so', async () => {
    const { page } = await openPage(setting.browser, { url: `${setting.broker.url}?queue=nothing` });
    await page.getByText('There is no queue of this name.').waitFor();
    await page.context().close();
  });
});

describe('when the broker goes away', () => {
  it('asks again for messages that could not be loaded', async () => {
    const { page } = await openPage(setting.browser, { url: `${setting.broker.url}?queue=orders` });
    await page.locator('ol.messages a').first().waitFor();
    let isAway = true;
    await page.route('**/api/**', (route) => (isAway ? route.abort() : route.continue()));
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByText('No answer.').waitFor();
    // Off screen the stream is closed; it is opened again when the page is back.
    await page.evaluate(`for (const value of ['hidden', 'visible']) {
      Object.defineProperty(document, 'visibilityState', { value, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }`);
    await page.getByText(/Disconnected, last seen/).waitFor();
    isAway = false;
    await page.locator('ol.messages a').first().waitFor();
    expect(await page.getByText('No answer.').count()).toBe(0);
    await page.context().close();
  });

  it('keeps what it showed, says so, and goes on when the broker is back', async () => {
    const first = await startDashboardBroker();
    const { page } = await openPage(setting.browser, { url: `${first.url}?view=queues` });
    const spoken = page.getByRole('status', { name: 'Health' });
    const one = await first.connect();
    await one.publish('before', { n: 1 });
    await page.getByRole('link', { name: 'before' }).waitFor();
    await one.close();
    await first.stop();
    await page.getByText(/Disconnected, last seen/).waitFor();
    expect(await page.getByRole('link', { name: 'before' }).count()).toBe(1);
    await expect.poll(() => spoken.innerText(), soon).toBe('The connection is lost: what is shown is old.');
    const ports = { tcp: first.port, dashboard: Number(new URL(first.url).port) };
    const second = await startDashboardBroker(ports);
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByText('No queues yet').waitFor();
    await expect.poll(() => spoken.innerText(), soon).toBe('The connection is back.');
    await page.context().close();
    await second.stop();
  });
});
