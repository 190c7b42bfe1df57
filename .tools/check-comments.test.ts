// Above each check of the conformance suite stands the sentence of its main requirement, in the words of the catalogue in spec/.
// After a change of the catalogue or of a check, `npm run refresh` rewrites the comments.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { checks } from '../conformance/src/checks/index.ts';
import { withRequirementComments } from './check-comments/comments.ts';
import { parseCatalogue, readCatalogueFiles, requirementsOf } from './traceability/catalogue.ts';

const spec = fileURLToPath(new URL('../spec', import.meta.url));
const folder = fileURLToPath(new URL('../conformance/src/checks', import.meta.url));
const schema = JSON.parse(readFileSync(join(spec, 'requirements.schema.json'), 'utf8')) as object;
const catalogue = parseCatalogue(readCatalogueFiles(join(spec, 'requirements')), schema);
const requirements = new Map(requirementsOf(catalogue.areas).map((one) => [one.id, one]));

const names = readdirSync(folder).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
const read = (name: string): string => readFileSync(join(folder, name), 'utf8');

describe('the comments above the checks', () => {
  it.each(names)(
    'have the sentences of the catalogue, after a change by `npm run refresh`: %s',
    async (name) => {
      const { text, outdated, unknown } = withRequirementComments(read(name), requirements);
      expect(unknown, `${name}: checks whose main requirement is not in the catalogue`).toEqual([]);
      const problem = `${name}: missing or different comments above ${outdated.join(', ')}`;
      await expect(text, problem).toMatchFileSnapshot(join(folder, name));
    },
  );

  it('are missed above every check when all are removed', () => {
    const missed = names.flatMap((name) => {
      const { outdated, unknown } = withRequirementComments(
        read(name).replace(/^ *\/\/ .*\n/gm, ''),
        requirements,
      );
      return [...outdated, ...unknown];
    });
    expect(missed.sort()).toEqual(checks.map(({ id }) => id).sort());
  });
});
