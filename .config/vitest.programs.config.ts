// Tests in which whole programs play: they start brokers and runners as processes, wait for them and kill them. They take longer than
// what is run before every commit, and stand beside the code as all tests do, as x.programs.test.ts.
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './longest-first.ts';

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: [
      'src/**/*.programs.test.ts',
      'conformance/**/*.programs.test.ts',
      '.tools/**/*.programs.test.ts',
    ],
    exclude: ['**/node_modules/**', '**/dist/**', '**/dist.*/**', '**/out/**'],
    passWithNoTests: false,
    globalSetup: ['.config/vitest.built.ts'],
    setupFiles: ['.config/vitest.setup.ts'],
    testTimeout: 120_000,
    hookTimeout: 60_000,
    isolate: false,
    sequence: { sequencer: LongestFirst },
    // They mostly wait: for brokers that start, and for deadlines.
    maxWorkers: 5,
    // What the unit tests have transformed before is used again.
    experimental: { fsModuleCache: true },
  },
});
