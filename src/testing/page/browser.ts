// A browser for tests of the dashboard's page: Debian's Chromium, without a window. Needs a program that is installed or not.

import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';

/** The rest keeps it from asking for anything that is not on this machine. */
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export type Scheme = 'light' | 'dark';

/** What a page did that it must not do. */
export type Misdeeds = {
  /** Errors and warnings of the console, violations of the content security policy among them. */
  readonly complaints: string[];
  /** Addresses of other servers that it asked. */
  readonly foreign: string[];
};

/** The path of Chromium; undefined when it is not installed. */
export function chromiumPath(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.map((folder) => join(folder, 'chromium')).find(isExecutable);
}

/** @throws Error when it does not start */
export function openBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: FLAGS });
}

type PageOptions = {
  readonly url: string;
  readonly scheme?: Scheme;
  /** In CSS pixels. */
  readonly width?: number;
};

/** Opens a page of its own, and writes down what it does that it must not do. */
export async function openPage(
  browser: Browser,
  { url, scheme = 'light', width = 1200 }: PageOptions,
): Promise<{ readonly page: Page; readonly misdeeds: Misdeeds }> {
  const context = await browser.newContext({
    colorScheme: scheme,
    viewport: { width, height: 900 },
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  const misdeeds: Misdeeds = { complaints: [], foreign: [] };
  const { origin } = new URL(url);
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) misdeeds.complaints.push(message.text());
  });
  page.on('pageerror', (error) => misdeeds.complaints.push(error.message));
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) misdeeds.foreign.push(request.url());
  });
  await page.goto(url);
  await page.getByText('Live', { exact: true }).waitFor();
  return { page, misdeeds };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
