// Every view of the dashboard's page in a browser: for screen readers, in both colour schemes, wide and narrow.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { axeViolations } from './axe.ts';
import { type Misdeeds, openPage, type Scheme } from './browser.ts';
import { fillQueues, setUpPages } from './page-setting.ts';

const setting = setUpPages(fillQueues);
const schemes: readonly Scheme[] = ['light', 'dark'];
const widths = [1200, 400];
const cases = schemes.flatMap((scheme) => widths.map((width) => ({ scheme, width })));

it('what is open can be told from the rest where the system chooses the colours', async () => {
  const { page } = await openPage(setting.browser, { url: `${setting.broker.url}?queue=letters.dlq` });
  await page.locator('ol.messages a').nth(1).click();
  await page.locator('li.open').waitFor();
  await page.emulateMedia({ forcedColors: 'active' });
  const colors = (selector: string, side: string) =>
    page.evaluate<string[]>(
      `[...document.querySelectorAll('${selector}')].map((element) => getComputedStyle(element).border${side}Color)`,
    );
  const [overview, queues, queue] = await colors('header nav a', 'Bottom');
  expect(overview).toBe(queues);
  expect(queue).not.toBe(overview);
  const [first, open, third] = await colors('ol.messages li', 'Left');
  expect(first).toBe(third);
  expect(open).not.toBe(first);
  await page.context().close();
});

describe.each(['', '?view=queues', '?queue=orders', '?queue=letters.dlq', '?queue=nothing'])(
  'the view "%s"',
  (view) => {
    let page: Page;
    let misdeeds: Misdeeds;

    beforeAll(async () => {
      if (setting.browser === undefined) return;
      ({ page, misdeeds } = await openPage(setting.browser, { url: `${setting.broker.url}${view}` }));
      await page.getByRole('heading', { level: 1 }).waitFor();
      if (view === '?queue=orders') await page.locator('ol.messages input').first().waitFor();
    });

    afterAll(() => page?.context().close());

    it.each(cases)('has nothing that axe finds wrong: $scheme, $width wide', async ({ scheme, width }) => {
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize({ width, height: 900 });
      expect(await page.evaluate('[innerWidth, matchMedia("(prefers-color-scheme: dark)").matches]')).toEqual(
        [width, scheme === 'dark'],
      );
      expect(await axeViolations(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      expect(misdeeds).toEqual({ complaints: [], foreign: [] });
    });
  },
);
