// A broker that is killed under load loses no confirmed message. `npm run test:crash` does the same for longer.

import { expect, it } from 'vitest';
import { CrashLedger } from './crash-ledger.ts';
import { crashAgainAndAgain } from './crashes.ts';

it('keeps what it has confirmed, and nothing else, over kill -9 [DURABLE-003, DURABLE-004, DURABLE-006, DURABLE-012, DURABLE-015]', async () => {
  const seed = Number(process.env['TRUEMQ_SEED'] ?? Date.now() % 1_000_000);
  const ledger = await crashAgainAndAgain({ crashCount: 20, seed, maxConfirmed: 250 });
  expect({ seed, problems: ledger.problems() }).toEqual({ seed, problems: [] });
  expect(ledger.confirmedCount).toBeGreaterThan(10);
  expect(ledger.settledCount).toBeGreaterThan(0);
}, 120_000);

it('would be told by the account: what is lost, invented or comes back', () => {
  const ledger = new CrashLedger();
  for (const id of ['lost', 'kept', 'back']) {
    ledger.published(id);
    ledger.confirmed(id);
  }
  ledger.published('open');
  ledger.taken('kept', 'q');
  ledger.taken('back', 'q');
  ledger.settled(['back']);
  ledger.taken('back', 'q');
  ledger.taken('never', 'q');
  expect(ledger.problems()).toEqual([
    'back came back from q after its ack was committed',
    'never came from q and was never published',
    'lost was confirmed and is lost',
  ]);
});
