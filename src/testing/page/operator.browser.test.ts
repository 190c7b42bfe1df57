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
