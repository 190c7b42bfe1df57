// The tests on a broker with a planted fault, for .tools/proof.ts: PLANTED_FAULT names a file that holds the changed source as JSON, { path,
// text }; PLANTED_TESTS is `unit` or `programs`.
import { readFileSync } from 'node:fs';
import { mergeConfig } from 'vitest/config';
import unit from './vitest.config.ts';
import programs from './vitest.programs.config.ts';

const root = new URL('..', import.meta.url).pathname;
const { PLANTED_FAULT = '', PLANTED_TESTS } = process.env;
const { path, text } = JSON.parse(readFileSync(PLANTED_FAULT, 'utf8')) as { path: string; text: string };

export default mergeConfig(PLANTED_TESTS === 'programs' ? programs : unit, {
  plugins: [
    {
      name: 'planted-fault',
      enforce: 'pre',
      load: (id: string) => (id.split('?')[0] === root + path ? text : undefined),
    },
  ],
  test: {
    // A fault may make a test run for ever, or end its process.
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: PLANTED_TESTS === 'programs' ? 60_000 : 20_000,
    // What is kept goes by the text on disk: the fault would not be seen, or be seen in other runs.
    experimental: { fsModuleCache: false },
  },
});
