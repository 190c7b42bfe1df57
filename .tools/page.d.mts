// What TypeScript needs to know of page.mjs.
export type BuiltPage = {
  /** Relative to the folder, without those that end with .gz. */
  readonly paths: readonly string[];
  readonly gzippedBytes: number;
};
export function buildPage(folder: string): BuiltPage;
