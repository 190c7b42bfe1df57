// `npm run test:crash`: two hundred crashes, or as many as the first argument says, and their account.

import { crashAgainAndAgain } from './crashes.ts';

const crashCount = Number(process.argv[2] ?? 200);
const seed = Number(process.env['TRUEMQ_SEED'] ?? Date.now() % 1_000_000);
console.log(`${crashCount} crashes, seed ${seed}`);
const ledger = await crashAgainAndAgain({
  crashCount,
  seed,
  maxConfirmed: 1_500,
  onCrash: (told) => console.log(told),
});
const problems = ledger.problems();
for (const problem of problems) console.log(problem);
const { confirmedCount, deliveredCount, againCount } = ledger;
console.log(`${confirmedCount} messages confirmed, ${deliveredCount} taken, ${againCount} of them once more`);
console.log(problems.length === 0 ? 'every message is accounted for' : `${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;
