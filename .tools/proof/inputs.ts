// What the proof of a fault is made from: the source with the fault in it, and the files that name what the fault breaks.
import type { Fault } from '../faults/catalogue.ts';
import type { Planted, Planter } from '../faults/planter.ts';
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
  planter: Planter,
  files: readonly NamingFile[],
): ReadonlyMap<string, FaultInput> {
  return new Map(
    faults.map((fault) => {
      const breaks = fault.breaks ?? [];
      const planted = planter.plant(fault);
      const naming = files.filter(({ requirements }) => breaks.some((id) => requirements.has(id)));
      const texts = naming.flatMap(({ path, text }) => [path, text]);
      return [
        fault.id,
        { planted, files: naming, digest: digestOf([...breaks, planted.text, ...texts]) },
      ] as const;
    }),
  );
}
