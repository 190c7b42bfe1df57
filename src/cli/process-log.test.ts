// The log of a broker whose reader hangs, and reads on later.

import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { createProcessLogger } from './process-log.ts';

/** A pipe that takes nothing until it is read. */
class UnreadPipe extends Writable {
  readonly #taken: string[] = [];
  #callbacks: (() => void)[] = [];
  #isRead = false;

  override _write(chunk: Buffer, _: BufferEncoding, callback: () => void): void {
    this.#taken.push(chunk.toString());
    if (this.#isRead) callback();
    else this.#callbacks.push(callback);
  }

  /** What has arrived, when all is read. */
  async read(): Promise<string> {
    this.#isRead = true;
    for (const callback of this.#callbacks.splice(0)) callback();
    await new Promise<void>((resolve) => this.write('', () => resolve()));
    return this.#taken.join('');
  }
}

it('keeps no more than some megabytes for a reader that hangs, and says how many lines are missing', async () => {
  const stderr = new UnreadPipe();
  const logger = createProcessLogger({ logLevel: 'debug', logFormat: 'json' }, { stderr });
  const filling = 'x'.repeat(1_000);
  for (let number = 0; number < 10_000; number += 1) logger.debug('connection opened', { number, filling });
  expect(stderr.writableLength).toBeLessThan(5_000_000);
  const first = (await stderr.read()).trim().split('\n');
  logger.info('stopping');
  const [missing, stopping] = (await stderr.read()).trim().split('\n').slice(first.length);
  const message = 'lines of the log are missing here, because nobody read it';
  expect(JSON.parse(missing ?? '')).toMatchObject({ level: 'warn', message, count: 10_000 - first.length });
  expect(JSON.parse(stopping ?? '')).toMatchObject({ message: 'stopping' });
});
