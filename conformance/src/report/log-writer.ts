// The event log as text: one line for each event. The last line has a digest over all bytes before it, which shows whether the log was
// edited or cut. The digest is not a signature: anybody can compute it again.
import { createHash } from 'node:crypto';
import type { LogEvent, RunLog } from './event-log.ts';

/** Writes the lines of one log in order; each ends with a line feed. */
export class LogWriter {
  readonly #hash = createHash('sha256');

  line(event: LogEvent): string {
    if (event.type === 'run finished') return `${JSON.stringify(sealed(event, this.#hash))}\n`;
    const line = `${JSON.stringify(event)}\n`;
    this.#hash.update(line);
    return line;
  }
}

function sealed(event: LogEvent, hash: ReturnType<typeof createHash>): object {
  const digest = hash.copy().update(JSON.stringify(event)).digest('hex');
  return { ...event, digest: `sha256:${digest}` };
}

/** The text of a whole log. */
export function logText({ header, results, finish }: RunLog): string {
  const writer = new LogWriter();
  const checks = results.map((result) => ({ type: 'check finished', result }) as const);
  const events = [header, ...checks, ...(finish === undefined ? [] : [finish])];
  return events.map((event) => writer.line(event)).join('');
}
