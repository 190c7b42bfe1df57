// The list of all checks: one module per area of the specification. What is not listed here does not exist.
import type { Check } from '../check.ts';

export const checks: readonly Check[] = [];
