// Finds out whether a process listens at an address: connects, and closes the connection.
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Endpoints } from './target-file.ts';

const pollMs = 40;
const endNoticeMs = 150;

/** The exit of a process may be reported later than the close of its connections: waits that long. */
export async function waitForEndNotice(exit?: Promise<unknown>): Promise<void> {
  const notice = new Promise((resolve) => setTimeout(resolve, endNoticeMs));
  await Promise.race([notice, ...(exit === undefined ? [] : [exit])]);
}

/** Why the address cannot be reached within the time; undefined if it can. */
export async function unreachableReason(
  { host, port }: Endpoints['tcp'],
  withinMs: number,
): Promise<string | undefined> {
  const socket = connect({ host, port });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(withinMs) });
    return undefined;
  } catch (error) {
    const timedOut = error instanceof Error && error.name === 'AbortError';
    return timedOut ? `no connection within ${withinMs} ms` : String((error as Error).message);
  } finally {
    socket.destroy();
  }
}

/** Polls until the address can be reached (`open`) or cannot; false if the time is over before. */
export async function waitForListener(
  state: 'open' | 'shut',
  tcp: Endpoints['tcp'],
  options: { readonly withinMs: number; readonly until?: () => boolean },
): Promise<boolean> {
  const endAt = performance.now() + options.withinMs;
  while (options.until?.() !== true) {
    const leftMs = Math.max(1, Math.ceil(endAt - performance.now()));
    const isOpen = (await unreachableReason(tcp, Math.min(leftMs, 1000))) === undefined;
    if (isOpen === (state === 'open')) return true;
    if (performance.now() >= endAt) return false;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  return false;
}
