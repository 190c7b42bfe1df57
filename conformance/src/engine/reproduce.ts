// The command line that runs a check again in the same way: it has every flag that can change the result, and no other.
import type { Check } from '../check.ts';
import { expandProfiles } from './scope.ts';
import type { RunOptions } from './suite.ts';

/** Names the check's profile if the target does not claim it, because `--only` selects from claimed profiles. */
export function reproduceLine(
  { id, profile }: Pick<Check, 'id' | 'profile'>,
  options: Pick<RunOptions, 'target' | 'targetPath' | 'seed' | 'wireMode' | 'timeoutScale'>,
): string {
  const isClaimed = expandProfiles(options.target.profiles ?? ['core']).has(profile);
  const asked = isClaimed ? '' : ` --profile ${profile}`;
  const scale = options.timeoutScale === 1 ? '' : ` --timeout-scale ${options.timeoutScale}`;
  const wire = options.wireMode === 'whole' ? '' : ` --wire ${options.wireMode}`;
  const target = shellWord(options.targetPath);
  return `truemq-conformance run --target ${target}${asked} --only ${id} --seed ${options.seed}${wire}${scale}`;
}

/** The text as one word of a command line. */
export function shellWord(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
