// Tests of the dashboard's page in a browser. They start a broker and Chromium, so they are none of those that run before every commit, and stand
// beside the code as x.browser.test.ts. The broker must be built.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['src/**/*.browser.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**', '**/dist.*/**', '**/out/**'],
    passWithNoTests: false,
    // They mostly wait: for what a page draws.
    maxWorkers: 3,
    setupFiles: ['.config/vitest.setup.ts'],
    testTimeout: 90_000,
    hookTimeout: 60_000,
  },
});
