// Refuses reports that would overwrite each other or a file that the command reads: one of them would be lost, and the run would be green.
import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { UsageError } from '../usage-error.ts';
import { reportNamesIn } from './out-folder.ts';
import type { Destination, Outputs } from './reporters.ts';

type Written = { readonly path: string; readonly content: string; readonly flag: string };

/** What a command reads, each by the words for it. */
export type Inputs = readonly (readonly [what: string, path: string])[];

/** `writesLog`: the command writes the event log into the folder of `--out` too. Throws a UsageError. */
export function refuseSharedPaths({ reports, outFolder }: Outputs, inputs: Inputs, writesLog: boolean): void {
  const usual = usualFiles(outFolder);
  for (const one of usual) if (writesLog || one.content !== 'ndjson') refuseOverwriting(one, inputs);
  const files = new Map(usual.map((one) => [placeOf(one.path), one]));
  for (const one of reports.flatMap(namedFile)) {
    const place = placeOf(one.path);
    refuseOverwriting(one, inputs);
    const other = files.get(place);
    if (other !== undefined && other.content !== one.content)
      throw new UsageError(`${other.flag} and ${one.flag} write the same file; choose another path`);
    files.set(place, one);
  }
}

/** Throws a UsageError if the file to be written is one of those that the command reads. */
export function refuseOverwriting(
  { path, flag }: { readonly path: string; readonly flag: string },
  inputs: Inputs,
): void {
  const place = placeOf(path);
  const [what, input] = inputs.find(([, read]) => placeOf(read) === place) ?? [];
  if (what === undefined) return;
  const named = flag.startsWith('--out') ? ` (${input})` : '';
  throw new UsageError(`${flag} would overwrite ${what}${named}; choose another path`);
}

/** None for what goes to devices and pipes, and for what is appended: these overwrite nothing. */
function namedFile(one: Destination): readonly Written[] {
  if (one.kind !== 'file' || resolve(one.path).startsWith('/dev/')) return [];
  return [{ path: one.path, content: one.name, flag: `--reporter ${one.name}=${one.path}` }];
}

function usualFiles(folder: string | undefined): readonly Written[] {
  if (folder === undefined) return [];
  return [...reportNamesIn].map(([file, content]) => ({
    path: join(folder, file),
    content,
    flag: `--out ${folder}`,
  }));
}

/** The path without symbolic links in its folder, whether the file exists or not. */
function placeOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // The file does not exist yet.
  }
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    // Nor does its folder.
    return resolve(path);
  }
}
