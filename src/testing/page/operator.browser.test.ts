// The dashboard's page in a browser, as an operator meets it: a queue that comes and goes, a broker that refuses, another clock, the way back, and a command
// that is pasted.

import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { openPage } from './browser.ts';
import { setUpPages, soon } from './page-setting.ts';

const setting = setUpPages();

/** Publishes that many messages, one after the other. */
async function fill(queue: string, count: number): Promise<void> {
  for (let n = 1; n <= count; n += 1) await setting.client.publish(queue, { n }, { id: `m${n}` });
}

/** Off screen the page closes its stream, on screen it opens one. */
async function setVisible(page: Page, isVisible: boolean): Promise<void> {
  const value = isVisible ? 'visible' : 'hidden';
  await page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: '${value}', configurable: true });
    document.dispatchEvent(new Event('visibilitychange'))`);
}

describe('the charts of a queue', () => {
  /** What the caption of the first chart says. */
  const caption = (page: Page) => page.locator('figcaption').first().innerText();

  it('begin when it is created, and again when it is created anew', async () => {
    const { page } = await openPage(setting.browser, { url: `${setting.broker.url}?queue=later` });
    await page.getByText('There is no queue of this name.').waitFor();
    await fill('later', 3);
    await expect.poll(() => caption(page), soon).toMatch(/waiting\s+3/);
    await setting.client.deleteQueue('later');
    await page.getByText('There is no queue of this name.').waitFor();
    await fill('later', 2);
    await expect.poll(() => caption(page), soon).toMatch(/waiting\s+2/);
    await page.context().close();
  });
});

describe('a broker that refuses the live stream', () => {
  it('because there are 20 says so, and what to do, until there is room', async () => {
    const { page } = await openPage(setting.browser, { url: setting.broker.url });
    await setVisible(page, false);
    const others = new AbortController();
    const open = async () =>
      (await fetch(`${setting.broker.url}api/events`, { signal: others.signal })).status === 200;
    await expect.poll(async () => !(await open()), { timeout: 15_000, interval: 1 }).toBe(true);
    await setVisible(page, true);
    await page.getByText('The dashboard has 20 live streams already').waitFor();
    expect(await page.locator('.live-state').innerText()).toMatch(/^Refused, last seen/);
    others.abort();
    await page.getByText('Live', { exact: true }).waitFor();
    expect(await page.locator('.refusal').count()).toBe(0);
    await page.context().close();
  });

  it('because the password is wrong by now asks to load the page again', async () => {
    const { page } = await openPage(setting.browser, { url: setting.broker.url });
    await setVisible(page, false);
    let count = 0;
    await page.route('**/api/events', (route) => {
      count += 1;
      const body = JSON.stringify({ detail: 'The user name or the password is wrong.' });
      return route.fulfill({ status: 401, contentType: 'application/problem+json', body });
    });
    await setVisible(page, true);
    await page.getByText(/password is wrong\. .*reload the page/).waitFor();
    expect(count).toBe(2);
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'The broker answers' }).waitFor();
    await page.context().close();
  });
});

describe('the age of a message', () => {
  it("goes by the broker's clock", async () => {
    await fill('aged', 1);
    const { page } = await openPage(setting.browser, { url: `${setting.broker.url}?queue=aged` });
    await page.addInitScript('const now = Date.now; Date.now = () => now() + 7_200_000');
    await page.reload();
    const age = () => page.locator('ol.messages time').innerText();
    await expect.poll(age, soon).toMatch(/^now$|s ago$/);
    await page.locator('ol.messages a').click();
    await page.locator('article.pane time').waitFor();
    expect(await page.locator('article.pane time').innerText()).toMatch(/^now$|s ago$/);
    await page.context().close();
  });
});

describe('the way back', () => {
  const scrolled = (page: Page) => page.evaluate<number>('Math.round(scrollY)');

  it('from a queue leads to the place in the list of queues, and to its link', async () => {
    const names = Array.from({ length: 200 }, (_, n) => `back-${String(n).padStart(3, '0')}`);
    await Promise.all(names.map((name) => setting.client.createQueue(name)));
    const { page } = await openPage(setting.browser, {
      url: `${setting.broker.url}?view=queues&sort=name&order=asc&search=back`,
    });
    // New queues come in pieces: until the last has come, the list may be too short to be scrolled so far.
    await page.locator(`table.queues[aria-rowcount="${names.length + 1}"]`).waitFor();
    await page.evaluate('scrollTo(0, 4000)');
    const link = page.getByRole('link', { name: 'back-120' });
    await link.focus();
    await page.keyboard.press('ArrowDown');
    const before = await scrolled(page);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'back-121' }).waitFor();
    expect(await scrolled(page)).toBe(0);
    await page.goBack();
    await expect.poll(() => scrolled(page), soon).toBe(before);
    await expect
      .poll(() => page.evaluate<string>('document.activeElement.textContent'), soon)
      .toBe('back-121');
    await page.goForward();
    await page.getByRole('heading', { level: 1, name: 'back-121' }).waitFor();
    await page.goBack();
    await expect.poll(() => scrolled(page), soon).toBe(before);
    await page.reload();
    await expect.poll(() => scrolled(page), soon).toBe(before);
    await page.goto(`${setting.broker.url}?view=queues`);
    await page.getByText('Live', { exact: true }).waitFor();
    expect(await scrolled(page)).toBe(0);
    await page.goBack();
    await expect.poll(() => scrolled(page), soon).toBe(before);
    await page.context().close();
    await Promise.all(names.map((name) => setting.client.deleteQueue(name)));
  });

  it('from another view leads to the place in the list of messages, which is loaded first', async () => {
    await fill('long', 50);
    const { page } = await openPage(setting.browser, { url: `${setting.broker.url}?queue=long` });
    await page.locator('ol.messages a').last().waitFor();
    await page.evaluate('scrollTo(0, 1500)');
    const before = await scrolled(page);
    expect(before).toBeGreaterThan(1000);
    await page.keyboard.press('g');
    await page.keyboard.press('o');
    await page.getByRole('heading', { level: 1, name: /Healthy/ }).waitFor();
    await page.goBack();
    await expect.poll(() => scrolled(page), soon).toBe(before);
    await page.context().close();
  });
});

describe('the way back on a phone', () => {
  const inList = (page: Page) => page.evaluate<number>(`document.querySelector('ol.messages')?.scrollTop`);

  it('leads to the place in the list of messages, which has a height of its own', async () => {
    await fill('phone', 50);
    const { page } = await openPage(setting.browser, {
      url: `${setting.broker.url}?queue=phone&message=m2`,
      width: 390,
    });
    await page.locator('ol.messages a').last().waitFor();
    await page.locator('li.open').waitFor();
    await page.evaluate(`document.querySelector('ol.messages').scrollTop = 1000`);
    for (const key of ['o', 'q']) {
      await page.keyboard.press('g');
      await page.keyboard.press(key);
      await page.getByRole('heading', { level: 1, name: /Healthy|Queues/ }).waitFor();
      await page.goBack();
      await page.locator('li.open').waitFor();
      await expect.poll(() => inList(page), soon).toBe(1000);
    }
    await page.reload();
    await page.locator('li.open').waitFor();
    await expect.poll(() => inList(page), soon).toBe(1000);
    await page.context().close();
  });
});

describe('a queue', () => {
  const focused = (page: Page) => page.evaluate<string>('document.activeElement.textContent');

  it('that is deleted and created anew at once has its new messages', async () => {
    await setting.client.publish('anew', 1, { id: 'old' });
    const { page } = await openPage(setting.browser, { url: `${setting.broker.url}?queue=anew` });
    await page.getByText('old', { exact: true }).waitFor();
    await setting.client.deleteQueue('anew');
    await setting.client.publish('anew', 1, { id: 'new' });
    await page.locator('.message-id', { hasText: 'new' }).waitFor();
    expect(await page.locator('.message-id').allInnerTexts()).toEqual(['new']);
    await page.context().close();
  });

  it('that somebody else deletes leaves the focus on its heading', async () => {
    await setting.client.publish('others', 1);
    const { page } = await openPage(setting.browser, { url: `${setting.broker.url}?queue=others` });
    await page.getByRole('button', { name: 'Delete …' }).click();
    await page.getByRole('dialog').waitFor();
    await setting.client.deleteQueue('others');
    await page.getByText('There is no queue of this name.').waitFor();
    await expect.poll(() => focused(page), soon).toBe('others');
    await page.context().close();
  });

  it('with the name of a view begins at its top, too', async () => {
    const names = ['Queues', ...Array.from({ length: 30 }, (_, n) => `more-${n}`)];
    await Promise.all(names.map((name) => setting.client.createQueue(name)));
    const { page } = await openPage(setting.browser, {
      url: `${setting.broker.url}?view=queues&sort=name&order=desc`,
    });
    await page.setViewportSize({ width: 1200, height: 400 });
    const link = page.locator('tbody').getByRole('link', { name: 'Queues', exact: true });
    await link.scrollIntoViewIfNeeded();
    await page.evaluate('scrollBy(0, 60)');
    expect(await page.evaluate<number>('scrollY')).toBeGreaterThan(0);
    await link.click();
    await page.getByRole('button', { name: 'Delete …' }).waitFor();
    await expect.poll(() => page.evaluate<number>('scrollY'), soon).toBe(0);
    await page.context().close();
    await Promise.all(names.map((name) => setting.client.deleteQueue(name)));
  });

  it('of which fewer messages wait than stand before the page leads to its last ones', async () => {
    await fill('short', 60);
    const { page } = await openPage(setting.browser, {
      url: `${setting.broker.url}?queue=short&offset=5000`,
    });
    await page.getByText('There are no messages on this page any more.').waitFor();
    await page.getByRole('link', { name: 'Previous' }).click();
    await page.getByText('11–60 of 60').waitFor();
    await page.context().close();
  });

  it('with a name from right to left stands before the number of attempts', async () => {
    await setting.client.createQueue('رسائل', { messageTtlMs: 1, enableDeadLetterQueue: true });
    await setting.client.publish('رسائل', 1);
    const { page } = await openPage(setting.browser, {
      url: `${setting.broker.url}?queue=${encodeURIComponent('رسائل.dlq')}`,
    });
    await page.locator('.message-reason').waitFor();
    const lefts = await page.evaluate<number[]>(`['رسائل', '0 attempts'].map((text) => {
      const element = document.querySelector('.message-reason');
      const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      const letters = [];
      while (walker.nextNode())
        for (let at = 0; at < walker.currentNode.length; at += 1) letters.push([walker.currentNode, at]);
      const [node, at] = letters[element.textContent.indexOf(text)];
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, at + 1);
      return range.getBoundingClientRect().left;
    })`);
    expect(lefts[1]).toBeGreaterThan(lefts[0] ?? 0);
    await page.context().close();
  });
});

describe('the command that publishes a first message', () => {
  it('says at which port the broker is', async () => {
    await setting.client.createQueue('no-messages');
    const { page } = await openPage(setting.browser, { url: `${setting.broker.url}?queue=no-messages` });
    await expect
      .poll(() => page.locator('.command code').innerText(), soon)
      .toBe(`npx truemq pub --port ${setting.broker.port} no-messages '{"n":1}'`);
    await page.context().close();
  });
});
