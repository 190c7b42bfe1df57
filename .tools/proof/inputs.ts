// What the proof of a fault is made from: the fault, the source in which it is planted, and the files that name what it breaks; comments in
// code do not count.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Fault } from '../faults/catalogue.ts';
import type { Planted, Planter } from '../faults/planter.ts';
import { codeOf } from '../faults/product-source.ts';
import type { NamingFile } from './naming-files.ts';
import { digestOf } from './report.ts';

export type FaultInput = {
  readonly planted: Planted;
  readonly files: readonly NamingFile[];
  readonly digest: string;
};

/** By the id of the fault. Throws when one cannot be planted. */
export function faultInputs(
  faults: readonly Fault[],
  { root, planter }: { readonly root: string; readonly planter: Planter },
  files: readonly NamingFile[],
): ReadonlyMap<string, FaultInput> {
  const codes = new Map<string, string>();
  const codeIn = (path: string, text: string): string => {
    const code = codes.get(path) ?? (path.endsWith('.ts') ? codeOf(text) : text);
    codes.set(path, code);
    return code;
  };
  return new Map(
    faults.map((fault) => {
      const breaks = fault.breaks ?? [];
      const planted = planter.plant(fault);
      const naming = files.filter(({ requirements }) => breaks.some((id) => requirements.has(id)));
      const named = naming.flatMap(({ path, text }) => [path, codeIn(path, text)]);
      const source = codeIn(planted.path, readFileSync(join(root, planted.path), 'utf8'));
      const texts = [source, fault.find, fault.replace, fault.within ?? '', ...named];
      return [fault.id, { planted, files: naming, digest: digestOf([...breaks, ...texts]) }] as const;
    }),
  );
}
