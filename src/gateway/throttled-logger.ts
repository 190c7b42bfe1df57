// A log in which clients cannot flood the levels above debug: each sentence is written at most once a second, with the number of those left out since.
// A sentence is a constant, so the memory for it is bounded. Debug lines pass.

import type { Clock } from '../model/environment.ts';
import type { LogFields, Logger } from '../model/logger.ts';

const PAUSE_MS = 1_000;

type Line = { readonly at: number; suppressed: number };

export function throttledLogger(logger: Logger, clock: Clock): Logger {
  const lastLines = new Map<string, Line>();
  const throttled =
    (level: 'error' | 'warn' | 'info') =>
    (sentence: string, fields: LogFields = {}) => {
      const now = clock.now();
      const last = lastLines.get(sentence);
      if (last !== undefined && now - last.at < PAUSE_MS) {
        last.suppressed += 1;
        return;
      }
      lastLines.set(sentence, { at: now, suppressed: 0 });
      const suppressed = last?.suppressed ?? 0;
      logger[level](sentence, suppressed > 0 ? { ...fields, suppressed } : fields);
    };
  return {
    ...logger,
    error: throttled('error'),
    warn: throttled('warn'),
    info: throttled('info'),
    debug: (sentence, fields) => logger.debug(sentence, fields),
  };
}
