// The parts of a measurement that run in processes of their own, and how to start them wherever the runner runs from: its sources, or
// its one built file, which then serves a part when its command `bench` gets the part's name.
import { fileURLToPath } from 'node:url';

export const partNames = ['load', 'skeleton'] as const;
export type PartName = (typeof partNames)[number];

export type OwnProgram = {
  readonly file: string;
  readonly args: string[];
  readonly execArgv: string[];
};

export function ownProgram(part: PartName): OwnProgram {
  const here = import.meta.url;
  if (!here.endsWith('.ts')) return { file: fileURLToPath(here), args: ['bench', part], execArgv: [] };
  const entry = fileURLToPath(new URL('part-process.ts', here));
  return { file: entry, args: [part], execArgv: ['--import', 'tsx'] };
}
