// Every planted fault: one module per area. What is not listed here does not exist.
import type { Mutant } from './mutant.ts';

export const mutants: readonly Mutant[] = [];
