// Asks before what cannot be undone, when somebody sits at a terminal. In a pipe or a script there is nobody to ask: the command line is the decision.

import type { CommandContext } from './command.ts';

/** Whether to go on. `what`: what is about to happen, as a question without its mark. */
export async function isConfirmed(
  what: string,
  { isSure }: { readonly isSure: boolean },
  { ask, stderr }: CommandContext,
): Promise<boolean> {
  if (isSure || ask === undefined) return true;
  const answer = await ask(`${what}? [y/N] `);
  if (/^y(es)?$/i.test(answer.trim())) return true;
  stderr.write('truemq: nothing was changed\n');
  return false;
}
