// Access lists of many entries against the rules of the naive broker, which compares every entry with every name.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Principal, QueueOperation } from '../../model/access.ts';
import { isShown, may } from '../../testing/naive/rights.ts';
import { runsOf } from '../../testing/property-runs.ts';
import { AccessList } from './access-list.ts';

const { Publish, Subscribe, ListQueues } = QueueOperation;

/** Few letters, so that patterns share beginnings, and many match. */
const texts = (letters: readonly string[]): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...letters), { maxLength: 6 }).map((all) => all.join(''));

const entries = fc.array(
  fc.record({
    queuePattern: texts(['a', 'A', 'b', 'ς', '*']),
    operations: fc.subarray([Publish, Subscribe, ListQueues]),
  }),
  { maxLength: 12 },
);

it('an access list decides and shows what comparing every entry does [AUTH-018, AUTH-020, AUTH-023]', () => {
  fc.assert(
    fc.property(entries, fc.array(texts(['a', 'B', 'Σ', 'σ']), { maxLength: 8 }), (accessList, names) => {
      const principal: Principal = { username: 'alice', isSuperuser: false, accessList };
      const list = new AccessList(principal);
      for (const name of names) {
        for (const operation of [Publish, Subscribe])
          expect(list.allows(operation, name)).toBe(may(principal, operation, name));
      }
      expect(list.visible(names)).toEqual(names.filter((name) => isShown(principal, name)));
    }),
    { numRuns: runsOf(1000) },
  );
});
