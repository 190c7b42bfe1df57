// Builds the broker and the conformance runner before tests that start them as processes, unless they are current: those tests start what was
// built, because starting the sources takes five times the processor time.
import { ensureAllBuilt } from '../.tools/build.mjs';

export function setup(): void {
  if (!ensureAllBuilt()) throw new Error('What the tests start could not be built: the messages are above.');
}
