// The log of a broker process: to stderr, as the configuration says. The runtime keeps what the reader of a pipe has not read, without a bound: when
// nobody reads any more, lines are left out and counted, so that a reader that hangs does not cost the memory of the broker. Implements CONFIG-012.

import type { Configuration } from '../config/configuration.ts';
import type { Logger } from '../model/logger.ts';
import type { CommandContext } from './command.ts';
import { createLogger } from './logger.ts';

/** Bytes that may wait for their reader: some ten thousand lines. */
const MAX_UNREAD_BYTES = 4 * 1_048_576;

export function createProcessLogger(
  { logLevel, logFormat }: Pick<Configuration, 'logLevel' | 'logFormat'>,
  { stderr }: Pick<CommandContext, 'stderr'>,
): Logger {
  let lostCount = 0;
  const write = (line: string): void => {
    if (stderr.writableLength > MAX_UNREAD_BYTES) {
      lostCount += 1;
      return;
    }
    const count = lostCount;
    lostCount = 0;
    if (count > 0) logger.warn('lines of the log are missing here, because nobody read it', { count });
    stderr.write(line);
  };
  const logger = createLogger({ level: logLevel, format: logFormat, write, wallNow: Date.now });
  return logger;
}
