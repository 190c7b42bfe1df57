// Each fault that the join must find is shown with a catalogue and a run that have it, beside one that has not.
import { describe, expect, it } from 'vitest';
import type { Requirement } from './catalogue.ts';
import type { Evidence } from './evidence.ts';
import { coverageOf, findFaults, groupByRequirement } from './join.ts';

const requirement = (more: Partial<Requirement>): Requirement => ({
  id: 'FRAME-001',
  level: 'MUST',
  sentence: 'A frame is read.',
  source: 'wire facts 1',
  ...more,
});

const ran = (by: string, passed = true, id = 'FRAME-001'): Evidence => ({ kind: 'tests', id, by, passed });
/** All evidence is proved unless another list is given. */
const textsOf = (
  requirements: readonly Requirement[],
  evidence: readonly Evidence[],
  proved = evidence,
): readonly string[] => findFaults(requirements, { evidence, proved }).map(({ text }) => text);

describe('a requirement', () => {
  it('is in order when it is planned and nothing ran for it', () => {
    expect(textsOf([requirement({ planned: 'FRAME' })], [])).toEqual([]);
  });

  it('is in order when all that it lists ran and passed', () => {
    expect(textsOf([requirement({ coveredBy: { tests: ['a.test.ts'] } })], [ran('a.test.ts')])).toEqual([]);
  });

  it('must be covered or planned', () => {
    expect(textsOf([requirement({})], [])[0]).toContain('neither covered nor planned');
  });

  it('must not stay planned once something covers it', () => {
    expect(textsOf([requirement({ planned: 'FRAME' })], [ran('a.test.ts')])[0]).toContain(
      'a.test.ts covers it already',
    );
  });

  it('may stay planned while what names it fails', () => {
    expect(textsOf([requirement({ planned: 'FRAME' })], [ran('a.test.ts', false)])).toEqual([]);
  });

  it('must not be both covered and planned', () => {
    const both = requirement({ planned: 'FRAME', coveredBy: { tests: ['a.test.ts'] } });
    expect(textsOf([both], [ran('a.test.ts')])[0]).toContain('both covered and planned');
  });

  it('must not list what did not run', () => {
    const listed = requirement({ coveredBy: { tests: ['a.test.ts'], checks: ['FRAME-001a'] } });
    expect(textsOf([listed], [ran('a.test.ts')])[0]).toMatch(/checks lists FRAME-001a, which did not run/);
  });

  it('must not list a file of which one test for it failed', () => {
    const listed = requirement({ coveredBy: { tests: ['a.test.ts'] } });
    expect(textsOf([listed], [ran('a.test.ts', false), ran('a.test.ts')])[0]).toContain('did not pass');
    expect(textsOf([listed], [ran('a.test.ts'), ran('a.test.ts', false)])[0]).toContain('did not pass');
  });

  it('must list everything that ran and passed', () => {
    const listed = requirement({ coveredBy: { tests: ['a.test.ts'] } });
    expect(textsOf([listed], [ran('a.test.ts'), ran('b.test.ts')])[0]).toContain('lacks b.test.ts');
  });

  it('must not be cited once it is withdrawn', () => {
    expect(textsOf([requirement({ withdrawn: 'said twice' })], [ran('a.test.ts')])[0]).toContain(
      'a.test.ts still names it',
    );
  });

  it('must not be planned once it is withdrawn', () => {
    expect(textsOf([requirement({ withdrawn: 'said twice', planned: 'FRAME' })], [])[0]).toContain(
      'remove planned',
    );
    expect(textsOf([requirement({ withdrawn: 'said twice' })], [])).toEqual([]);
  });
});

describe('a claim without proof', () => {
  const claimed = requirement({ coveredBy: { tests: ['a.test.ts'] } });

  it('is a fault, of a planned requirement too', () => {
    for (const one of [claimed, requirement({ planned: 'FRAME' })]) {
      const texts = textsOf([one], [ran('a.test.ts')], []);
      expect(texts).toEqual([expect.stringMatching(/named by a.test.ts, and none .* proved/)]);
    }
  });

  it('says nothing beside a proof, and is not listed', () => {
    expect(textsOf([claimed], [ran('a.test.ts'), ran('b.test.ts')], [ran('a.test.ts')])).toEqual([]);
  });
});

describe('an id that is no requirement', () => {
  it('is named once for each file', () => {
    const evidence = [ran('a.test.ts', true, 'FRAME-999'), ran('a.test.ts', false, 'FRAME-999')];
    expect(findFaults([], { evidence, proved: evidence })).toHaveLength(1);
    expect(findFaults([], { evidence, proved: evidence })[0]).toMatchObject({
      id: 'FRAME-999',
      text: expect.stringContaining('a.test.ts'),
    });
  });
});

describe('the coverage of a requirement', () => {
  it('holds what passed, sorted, and no empty lists', () => {
    const shown = groupByRequirement([ran('b.test.ts'), ran('a.test.ts'), ran('c.test.ts', false)]).get(
      'FRAME-001',
    );
    expect(shown && coverageOf(shown)).toEqual({ tests: ['a.test.ts', 'b.test.ts'] });
  });

  it('is absent when nothing passed', () => {
    const shown = groupByRequirement([ran('a.test.ts', false)]).get('FRAME-001');
    expect(shown).toBeDefined();
    expect(shown && coverageOf(shown)).toBeUndefined();
  });
});
