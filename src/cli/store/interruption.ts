// Ends an action of `truemq store` that makes a file when a stop signal comes, so that it can remove what is not whole. The action looks at an
// AbortSignal. Further signals change nothing: some programs send each one twice, and what they could end is over within milliseconds. Actions that
// only read are left to the system, which ends them at once.

import { type CommandContext, type ExitCode, exitCodeAfter } from '../command.ts';

/**
 * Does the work, and says `told` when a signal has ended it: then the work rejects, whatever its error is. What was complete before it noticed
 * the signal is done.
 */
export async function untilInterrupted(
  { stderr, onStopSignal }: CommandContext,
  told: string,
  work: (interruption: AbortSignal) => Promise<ExitCode>,
): Promise<ExitCode> {
  const interruption = new AbortController();
  let first: NodeJS.Signals | undefined;
  const release = onStopSignal((signal) => {
    first ??= signal;
    interruption.abort();
  });
  try {
    return await work(interruption.signal);
  } catch (error) {
    if (first === undefined) throw error;
    stderr.write(`truemq: interrupted; ${told}\n`);
    return exitCodeAfter(first);
  } finally {
    release();
  }
}
