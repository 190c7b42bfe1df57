// Whether every fault of the catalogue can be planted: it must stand in the sources exactly once, change them, and leave TypeScript.
import { transformSync } from 'esbuild';
import type { Fault } from './catalogue.ts';
import type { Planter } from './planter.ts';

/** What is wrong, one sentence for each fault that cannot be planted. */
export function unplantable(faults: readonly Fault[], planter: Planter): readonly string[] {
  return faults.flatMap((fault) => {
    try {
      const { path, text } = planter.plant(fault);
      return syntaxErrors(text).map(
        (error) => `${fault.id}: with the fault in it, ${path}${error} Correct its "replace".`,
      );
    } catch (error) {
      return [(error as Error).message];
    }
  });
}

/** The first error of the text, behind its line: `:12 is no TypeScript: Unexpected "else".` */
function syntaxErrors(text: string): readonly string[] {
  try {
    transformSync(text, { loader: 'ts', logLevel: 'silent' });
    return [];
  } catch (failure) {
    const [first] =
      (failure as { errors?: readonly { text: string; location: { line: number } | null }[] }).errors ?? [];
    if (first === undefined) throw failure;
    return [`:${first.location?.line ?? 1} is no TypeScript: ${first.text}.`];
  }
}
