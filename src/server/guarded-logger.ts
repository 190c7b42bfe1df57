// The logger of the program that embeds a broker: checked, because programs without types may give anything, and guarded, because the broker logs
// in the middle of its work, where a failure would end the program. Implements what `createBroker` says of `logger`.

import { format } from 'node:util';
import { ConfigurationError } from '../config/configuration.ts';
import { writtenValue } from '../config/written-value.ts';
import type { LogFields, Logger } from '../model/logger.ts';

const levels = ['error', 'warn', 'info', 'debug'] as const;
type Level = (typeof levels)[number];

/**
 * A logger that never throws. The first failure of the given one, also of a promise that it returns, is a warning of the process.
 * @throws ConfigurationError when a function is missing
 */
export function guardedLogger(logger: Logger): Logger {
  check(logger);
  let hasFailed = false;
  const fail = (error: unknown) => {
    if (hasFailed) return;
    hasFailed = true;
    const reason = error instanceof Error ? error.message : error;
    process.emitWarning(format('the logger of the broker failed; later failures are not shown: %s', reason));
  };
  const guarded = (level: Level) => (sentence: string, fields?: LogFields) => {
    try {
      const result: unknown = logger[level](sentence, fields);
      if (result instanceof Promise) result.catch(fail);
    } catch (error) {
      fail(error);
    }
  };
  return {
    error: guarded('error'),
    warn: guarded('warn'),
    info: guarded('info'),
    debug: guarded('debug'),
    get writesDebug() {
      return logger.writesDebug !== false;
    },
  };
}

function check(logger: unknown): void {
  const allowed = `allowed is an object with the functions ${levels.join(', ')}`;
  if (typeof logger !== 'object' || logger === null)
    throw new ConfigurationError([`logger (option): came ${writtenValue(logger)}; ${allowed}`]);
  const missing = levels.filter((level) => typeof (logger as Partial<Logger>)[level] !== 'function');
  if (missing.length > 0)
    throw new ConfigurationError([`logger (option): came one without ${missing.join(', ')}; ${allowed}`]);
}
