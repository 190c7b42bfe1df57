// Whether every fault of the catalogue can be planted: it must stand in the sources exactly once, change them, and leave TypeScript.
import { transform } from 'esbuild';
import type { Fault } from './catalogue.ts';
import type { Planter } from './planter.ts';

/** What is wrong, one sentence for each fault that cannot be planted. */
export async function unplantable(faults: readonly Fault[], planter: Planter): Promise<readonly string[]> {
  return (await Promise.all(faults.map((fault) => complaintsAbout(fault, planter)))).flat();
}

async function complaintsAbout(fault: Fault, planter: Planter): Promise<readonly string[]> {
  try {
    const { path, text } = planter.plant(fault);
    const errors = await syntaxErrors(text);
    return errors.map((error) => `${fault.id}: with the fault in it, ${path}${error} Correct its "replace".`);
  } catch (error) {
    return [(error as Error).message];
  }
}

/**
 * The first error of the text, behind its line: `:12 is no TypeScript: Unexpected "else".` All texts share one process of esbuild: the
 * synchronous call starts one for each.
 */
async function syntaxErrors(text: string): Promise<readonly string[]> {
  try {
    await transform(text, { loader: 'ts', logLevel: 'silent' });
    return [];
  } catch (failure) {
    const [first] =
      (failure as { errors?: readonly { text: string; location: { line: number } | null }[] }).errors ?? [];
    if (first === undefined) throw failure;
    return [`:${first.location?.line ?? 1} is no TypeScript: ${first.text}.`];
  }
}
