// Whether the figures speak of the code that is there. For each figure is kept what the code of the hot path was when it was measured, as one digest
// per folder, comments apart. The page says between two marks which folders have changed since, so that no figure speaks of other code in silence. Pure.
import { createHash } from 'node:crypto';
import { codeOf } from '../faults/product-source.ts';

/** What a message passes through on its way, from the socket to the store and back. */
export const hotPath: readonly string[] = [
  'src/auth',
  'src/backend',
  'src/broker',
  'src/compression',
  'src/gateway',
  'src/model',
  'src/net',
  'src/protocol',
  'src/session',
  'src/storage',
];

/** By folder. */
export type Digests = Readonly<Record<string, string>>;

/** `at`: that of the result, so that a result which was measured later is noticed. */
export type Measured = { readonly at: string; readonly folders: Digests };

/** By the name of the figure. */
export type MeasuredCode = Readonly<Record<string, Measured>>;

export type SourceText = { readonly path: string; readonly text: string };

const mark = /<!-- code -->\n(?:[\s\S]*?\n)?<!-- end code -->/;

/** A digest for each folder of the hot path. Throws if one of them has no source, because it would never change. */
export function digestsOf(sources: readonly SourceText[]): Digests {
  return Object.fromEntries(
    hotPath.map((folder) => {
      const own = sources.filter(({ path }) => path.startsWith(`${folder}/`));
      if (own.length === 0)
        throw new Error(`${folder} has no source: take it out of .tools/figures/hot-path.ts`);
      const hash = createHash('sha256');
      for (const { path, text } of own.toSorted((a, b) => (a.path < b.path ? -1 : 1)))
        hash.update(`${path}\n${codeOf(text)}\n`);
      return [folder, hash.digest('hex').slice(0, 16)];
    }),
  );
}

/** The kept digests after a measurement: those of results that are new are replaced, those of results that are gone are left out. */
export function renewed(
  kept: MeasuredCode,
  resultTimes: Readonly<Record<string, string>>,
  now: Digests,
): MeasuredCode {
  return Object.fromEntries(
    Object.entries(resultTimes).map(([name, at]) => {
      const known = kept[name];
      return [name, known?.at === at ? known : { at, folders: now }];
    }),
  );
}

/** The lines between the marks: one for each set of folders that has changed since, or one that says that nothing has. */
export function codeLines(
  kept: MeasuredCode,
  resultTimes: Readonly<Record<string, string>>,
  now: Digests,
): readonly string[] {
  const namesByState = new Map<string, string[]>();
  for (const [name, at] of Object.entries(resultTimes)) {
    const state = stateOf(kept[name], at, now);
    if (state !== undefined) namesByState.set(state, [...(namesByState.get(state) ?? []), name]);
  }
  if (namesByState.size === 0)
    return ['Since the figures were measured, the code that a message passes through has not changed.'];
  return [...namesByState].flatMap(([state, names], index) => [
    ...(index === 0 ? [] : ['']),
    `**${state}**: ${names.join(', ')}.`,
  ]);
}

/** Throws if the page has no place for the lines. */
export function pageWith(page: string, lines: readonly string[]): string {
  if (!mark.test(page)) throw new Error('the page has no place for it: <!-- code --> and <!-- end code -->');
  return page.replace(mark, () => ['<!-- code -->', ...lines, '<!-- end code -->'].join('\n'));
}

/** Undefined where the figure is of the code that is there. */
function stateOf(measured: Measured | undefined, at: string, now: Digests): string | undefined {
  if (measured === undefined || measured.at !== at) return 'Measured before changes that are not recorded';
  const folders = Object.keys(now).filter((folder) => measured.folders[folder] !== now[folder]);
  if (folders.length === 0) return undefined;
  return `Measured before changes to ${folders.map((folder) => `\`${folder}\``).join(', ')}`;
}
