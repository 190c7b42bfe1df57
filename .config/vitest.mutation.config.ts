// The tests that mutation testing runs against each mutant: those that stand beside what is mutated, and the comparison with the model.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    include: [
      'src/broker/**/*.test.ts',
      'src/model/**/*.test.ts',
      'src/protocol/**/*.test.ts',
      'src/testing/compared-brokers.test.ts',
    ],
    passWithNoTests: false,
    setupFiles: ['.config/vitest.setup.ts'],
    testTimeout: 60_000,
    isolate: false,
  },
});
