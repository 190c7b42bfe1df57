// The command line that runs a check again in the same way: it has every flag that can change the result, and no other. Flags that select
// other checks, run them more often or beside each other, write reports or decide about the gate are no part of it. Credentials of the
// environment stay there.
import type { Check } from '../check.ts';
import { expandProfiles } from './scope.ts';
import type { RunOptions } from './suite.ts';

/** Names the check's profile if the target does not claim it, because `--only` selects from claimed profiles. */
export function reproduceLine(
  { id, profile }: Pick<Check, 'id' | 'profile'>,
  options: ReachOptions & Pick<RunOptions, 'target' | 'seed' | 'wireMode' | 'timeoutScale'>,
): string {
  const isClaimed = expandProfiles(options.target.profiles ?? ['core']).has(profile);
  const asked = isClaimed ? '' : ` --profile ${profile}`;
  const wire = options.wireMode === 'whole' ? '' : ` --wire ${options.wireMode}`;
  return `truemq-conformance run ${reachWords(options)}${asked} --only ${id} --seed ${options.seed}${wire}${scaleWords(options)}`;
}

export type ReachOptions = Pick<RunOptions, 'targetPath' | 'givenCredentials'>;

/** The flags that say which broker, and how to log in to it. */
export function reachWords({ targetPath, givenCredentials = [] }: ReachOptions): string {
  const flags = [['target', targetPath] as const, ...givenCredentials];
  return flags.map(([name, value]) => `--${name} ${shellWord(value)}`).join(' ');
}

/** The flag that makes deadlines longer or shorter, with a space before it; nothing if they are as usual. */
export function scaleWords({ timeoutScale }: Pick<RunOptions, 'timeoutScale'>): string {
  return timeoutScale === 1 ? '' : ` --timeout-scale ${timeoutScale}`;
}

/** The text as one word of a command line. */
function shellWord(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
