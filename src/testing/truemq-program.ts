// How tests start `truemq` as a process of its own: as it was built last, because starting it from its sources takes five times the processor time.
// A planted fault (PLANTED_FAULT, see .tools/proof.ts) is in no build, so it is started from its sources then.

import { fileURLToPath } from 'node:url';

const pathOf = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** Node's arguments before those of the command. The broker must be built. */
export const truemqProgram: readonly string[] =
  process.env['PLANTED_FAULT'] === undefined
    ? [pathOf('dist/cli/main.js')]
    : ['--import', import.meta.resolve('tsx'), pathOf('src/cli/main.ts')];
