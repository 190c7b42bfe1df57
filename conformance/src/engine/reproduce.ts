// The one line that runs a check again as it ran: every flag that can change what happens, and no other.
import type { RunOptions } from './suite.ts';

export function reproduceLine(
  checkId: string,
  options: Pick<RunOptions, 'targetPath' | 'seed' | 'wireMode' | 'timeoutScale'>,
): string {
  const scale = options.timeoutScale === 1 ? '' : ` --timeout-scale ${options.timeoutScale}`;
  const wire = options.wireMode === 'whole' ? '' : ` --wire ${options.wireMode}`;
  return `truemq-conformance run --target ${shellWord(options.targetPath)} --only ${checkId} --seed ${options.seed}${wire}${scale}`;
}

function shellWord(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
