// Calls the function of a program that opens a stream to the broker, and does not wait for ever for what it gives. Implements CLIENT-009 for
// `openStream`.

import type { Duplex } from 'node:stream';
import { orAborted } from './abort.ts';
import { ConnectionError } from './errors.ts';

export type OpenStream = (signal: AbortSignal) => Promise<Duplex>;

/**
 * A stream that comes too late is destroyed.
 * @throws ConnectionError (`ETIMEDOUT`) after `timeoutMs`, TypeError for what is no stream, the reason of the signal, what the function throws
 */
export async function openStreamWithin(
  openStream: OpenStream,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Duplex> {
  const timeout = new AbortController();
  const text = `openStream gave no stream within ${timeoutMs} ms (commandTimeoutMs)`;
  const timer = setTimeout(() => timeout.abort(new ConnectionError('ETIMEDOUT', text)), timeoutMs);
  const either = AbortSignal.any([signal, timeout.signal]);
  const opened = (async () => checkedStream(await openStream(either)))();
  const destroyLate = () => void opened.then(destroyQuietly, () => undefined);
  return orAborted(opened, either, destroyLate).finally(() => clearTimeout(timer));
}

function destroyQuietly(stream: Duplex): void {
  stream.on('error', () => undefined);
  stream.destroy();
}

/** @throws TypeError */
export function checkedStream(stream: unknown): Duplex {
  const { on, write } = Object(stream) as Partial<Duplex>;
  if (typeof on === 'function' && typeof write === 'function') return stream as Duplex;
  throw new TypeError('the stream to the broker is no duplex stream of Node.js');
}
