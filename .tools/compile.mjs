// Compiles the packages that need it, if they are not compiled yet: a task of `npm test`, which runs beside others because it takes one core.
import { ensureCompiled } from './install.mjs';

process.exitCode = ensureCompiled() ? 0 : 1;
