// What a simulated broker throws in a stream's event or a promise reaches nobody but the process: it is caught there, so that the
// schedule that is running fails and not the whole simulation.

import type { StrayErrors } from './schedule.ts';

export const processErrors: StrayErrors = (take) => {
  process.on('uncaughtException', take);
  process.on('unhandledRejection', take);
  return () => {
    process.off('uncaughtException', take);
    process.off('unhandledRejection', take);
  };
};
