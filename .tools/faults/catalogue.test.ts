// The form of an entry, and that every fault of the catalogue can be planted into the sources as they are.
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { entriesOf, fits, readFaults } from './catalogue.ts';
import { unplantable } from './check.ts';
import { openPlanter, Planter } from './planter.ts';
import { ProductSource } from './product-source.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const good = { id: 'queue-x', title: 'it is wrong', find: 'a', replace: '', simulation: 'seen' };

function complaints(entry: object): string {
  return entriesOf(JSON.stringify([entry]), 'queue')
    .flatMap((one) => one.complaints)
    .join('; ');
}

describe('the planted faults', () => {
  it('can all be planted', async () => {
    const faults = readFaults(root);
    expect(faults.length).toBeGreaterThan(300);
    expect(await unplantable(faults, openPlanter(root))).toEqual([]);
  });

  it('that cannot be planted are named', async () => {
    const [entry] = entriesOf(JSON.stringify([good]), 'queue');
    const faults = entry === undefined ? [] : [entry.fault];
    expect((await unplantable(faults, new Planter(() => []))).join()).toContain(
      'queue-x: its text stands 0 times',
    );
  });

  it('that leave no TypeScript are named, with the place', async () => {
    const [entry] = entriesOf(JSON.stringify([{ ...good, find: 'if (a) b();', replace: '' }]), 'queue');
    const faults = entry === undefined ? [] : [entry.fault];
    const planter = new Planter(() => [new ProductSource('src/a.ts', 'if (a) b();\nelse c();\n')]);
    expect(await unplantable(faults, planter)).toEqual([
      'queue-x: with the fault in it, src/a.ts:2 is no TypeScript: Unexpected "else". Correct its "replace".',
    ]);
  });
});

describe('an entry', () => {
  it('is complete with one judge', () => {
    expect(complaints(good)).toBe('');
    const judged = { ...good, breaks: ['A-001'], simulation: undefined, runner: { mustFail: ['A-001a'] } };
    expect(complaints(judged)).toBe('');
  });

  it.each<[string, object, string]>([
    ['of another area', { ...good, id: 'retry-x' }, 'the id does not begin with "queue-"'],
    ['with an id that is not kebab-case', { ...good, id: 'queue-X' }, 'the id does not begin with "queue-"'],
    [
      'that a check finds and that breaks nothing',
      { ...good, runner: { mustFail: ['A-001a'] } },
      'breaks does not name the requirements that it breaks',
    ],
    ['without a title', { ...good, title: '' }, 'title is not a text'],
    ['without a replacement', { ...good, replace: undefined }, 'replace is not a text'],
    ['with an unknown field', { ...good, file: 'a.ts' }, 'file is not a field of a fault'],
    ['with nothing that it breaks', { ...good, breaks: undefined, simulation: undefined }, 'neither breaks'],
    ['with an unknown word', { ...good, simulation: 'perhaps' }, 'simulation is neither seen nor unseen'],
    ['that is seen by half', { ...good, fuzz: 'half' }, 'fuzz is not seen'],
    ['that names no check', { ...good, runner: { mustFail: [] } }, 'runner does not name the checks'],
    [
      'with a watched check that it does not name',
      { ...good, runner: { mustFail: ['A-001a'], watched: ['A-001b'] } },
      'runner.watched is no list of ids of mustFail',
    ],
  ])('%s is refused', (_, entry, complaint) => {
    expect(complaints(entry)).toContain(complaint);
  });
});

it('an id fits a pattern', () => {
  expect(['queue-*', 'queue-x', '*x'].map((pattern) => fits(good, pattern))).toEqual([true, true, true]);
  expect(['queue', 'x', 'queue.x'].map((pattern) => fits(good, pattern))).toEqual([false, false, false]);
  expect(['y,queue-x', 'q,*x'].map((pattern) => fits(good, pattern))).toEqual([true, true]);
  expect(['y,z', 'queue-,x'].map((pattern) => fits(good, pattern))).toEqual([false, false]);
});
