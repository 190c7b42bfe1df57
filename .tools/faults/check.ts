// Whether every fault of the catalogue can be planted: it must stand in the sources exactly once and change them.
import type { Fault } from './catalogue.ts';
import type { Planter } from './planter.ts';

/** What is wrong, one sentence for each fault that cannot be planted. */
export function unplantable(faults: readonly Fault[], planter: Planter): readonly string[] {
  return faults.flatMap((fault) => {
    try {
      planter.plant(fault);
      return [];
    } catch (error) {
      return [(error as Error).message];
    }
  });
}
