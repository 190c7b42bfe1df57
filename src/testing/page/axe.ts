// What axe finds wrong with a page, the size of what is clicked included.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

type Found = { readonly violations: { readonly id: string; readonly nodes: { readonly html: string }[] }[] };

/** One text for each rule that is broken: its name and the elements. `target-size` (WCAG 2.2 AA) is off in axe unless it is asked for. */
export async function axeViolations(page: Page): Promise<readonly string[]> {
  await page.evaluate(axeSource);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(options: object): Promise<Found> } };
    const { violations } = await axe.run({ rules: { 'target-size': { enabled: true } } });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
  });
}
