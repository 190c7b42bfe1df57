// Catches exceptions that a simulated broker throws in a stream's event or a promise: they fail the running schedule, and not the whole
// simulation.

import type { StrayErrors } from './schedule.ts';

export const processErrors: StrayErrors = (take) => {
  process.on('uncaughtException', take);
  process.on('unhandledRejection', take);
  return () => {
    process.off('uncaughtException', take);
    process.off('unhandledRejection', take);
  };
};
