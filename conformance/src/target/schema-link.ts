// The link from a target file to its schema, so that an editor can check and explain the file.
import { existsSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Relative to the source file, and to the built file. */
const places = ['../../schemas/target.schema.json', '../schemas/target.schema.json'];

/** The path of the schema relative to the folder of the file; undefined if it does not exist, or is on another drive. */
export function schemaLink(targetPath: string): string | undefined {
  const found = places
    .map((place) => fileURLToPath(new URL(place, import.meta.url)))
    .find((path) => existsSync(path));
  if (found === undefined) return undefined;
  const path = relative(dirname(resolve(targetPath)), found)
    .split(sep)
    .join('/');
  if (/^([A-Za-z]:|\/)/.test(path)) return undefined;
  return path.startsWith('.') ? path : `./${path}`;
}
