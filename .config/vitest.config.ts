// Unit and property tests: they stand beside the code, need no network beyond loopback, and take no seed from the clock
// unless TRUEMQ_SEED is absent; the seed in use is printed so that a failure can be repeated.
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: ['src/**/*.test.ts', 'conformance/**/*.test.ts', '.tools/**/*.test.ts'],
    // Those of whole programs and those in a browser have configurations of their own.
    exclude: [
      '**/node_modules/**',
      '**/dist/**',
      '**/dist.*/**',
      '**/out/**',
      '**/*.programs.test.ts',
      '**/*.browser.test.ts',
    ],
    passWithNoTests: false,
    // A text made from tables that is missing fails, and is not written anew: `npm run refresh` does that.
    update: 'none',
    setupFiles: ['.config/vitest.setup.ts'],
    // A test that waits for something says how long itself; this ends what hangs, on a busy machine too.
    testTimeout: 60_000,
    // No module keeps state, so files can share loaded ones; loading them anew for each file takes most of the time.
    isolate: false,
    // Processes take a tenth more of processor time and of the time that people wait.
    pool: 'threads',
    // One core fewer than there are is the default, which is half of two; and files wait for a quarter of their time.
    maxWorkers: availableParallelism() + 1,
    // Transformed files are kept in node_modules: a later run takes a sixth less of processor time.
    experimental: { fsModuleCache: true },
  },
});
