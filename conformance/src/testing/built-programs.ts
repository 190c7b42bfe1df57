// The runner and the reference broker as they were built last, for tests that start them as processes: starting them from their sources takes
// five times the processor time. Not in the package.
import { fileURLToPath } from 'node:url';

const pathOf = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

/** Node's argument that starts the runner. */
export const builtRunner = pathOf('conformance/dist/main.mjs');

/** The command that starts the reference broker: from its sources if a fault is planted in them (PLANTED_FAULT), which is in no build. */
export const referenceBroker: readonly string[] =
  process.env['PLANTED_FAULT'] === undefined
    ? [process.execPath, pathOf('dist/cli/main.js'), 'serve']
    : [process.execPath, '--import', import.meta.resolve('tsx'), pathOf('src/cli/main.ts'), 'serve'];
