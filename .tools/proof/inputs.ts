// What the proof of a fault is made from: the fault, the declaration in which it is planted, and the files that name what it breaks; comments
// and formatting of code do not count.
import type { Fault } from '../faults/catalogue.ts';
import type { Planted, Planter } from '../faults/planter.ts';
import type { NamingFile } from './naming-files.ts';
import { codeNaming, partsOfTests, type TestParts } from './naming-tests.ts';
import { digestOf, type SeenBy } from './report.ts';

export type FaultInput = {
  readonly planted: Planted;
  readonly files: readonly NamingFile[];
  /**
   * Of what the proof rests on: the fault and its place, the files that saw it, and, for what no file saw, all that name it. A further test file does
   * not make a proof false.
   */
  readonly digest: (seenBy: SeenBy) => string;
};

/** By the id of the fault. Throws when one cannot be planted. */
export function faultInputs(
  faults: readonly Fault[],
  planter: Planter,
  files: readonly NamingFile[],
): ReadonlyMap<string, FaultInput> {
  const parts = new Map<string, TestParts>();
  const textIn = ({ path, text }: NamingFile, requirements: readonly string[]): string => {
    if (!path.endsWith('.ts')) return scenariosOf(text, requirements);
    const known = parts.get(path) ?? partsOfTests(text);
    parts.set(path, known);
    return codeNaming(known, requirements);
  };
  return new Map(
    faults.map((fault) => {
      const breaks = fault.breaks ?? [];
      const naming = files.filter(({ requirements }) => breaks.some((id) => requirements.has(id)));
      const digest = (seenBy: SeenBy): string => {
        const saw = new Set(Object.values(seenBy).flat());
        const unseen = breaks.filter((id) => seenBy[id] === undefined);
        const counted = naming.filter(
          ({ path, requirements }) => saw.has(path) || unseen.some((id) => requirements.has(id)),
        );
        const named = counted.flatMap((file) => [file.path, textIn(file, breaks)]);
        const { find, replace, within = '' } = fault;
        return digestOf([...breaks, planter.codeAround(fault), find, replace, within, ...named]);
      };
      return [fault.id, { planted: planter.plant(fault), files: naming, digest }] as const;
    }),
  );
}

/** What stands before the first tag of a feature, and the scenarios whose tags name one of the requirements. */
function scenariosOf(feature: string, requirements: readonly string[]): string {
  const [before = '', ...tagged] = feature.split(/^(?=\s*@)/m);
  return [before, ...tagged.filter((text) => namesOne(text, requirements))].join('');
}

function namesOne(text: string, requirements: readonly string[]): boolean {
  const [tags = ''] = text.trimStart().split('\n');
  return tags.split(/\s+/).some((tag) => requirements.includes(tag.slice(1)));
}
