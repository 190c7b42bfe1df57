// The judge of retained memory as a part of the tests: `node --import tsx src/testing/retained-memory/run.ts [SEED]`. Drives a real broker
// by plans that are drawn from seeds, collects the garbage, and compares what the process retains with what the broker accounts; contents
// of messages that have ended must be freed. Prints the plan and all readings if that fails, and ends with `N passed, N failed`. With a
// seed it judges that plan alone, in this process.

import { rmSync } from 'node:fs';
import type { Verdict } from '../simulation/schedule.ts';
import { judgePlan } from './judge-plan.ts';
import { runRetainedMemory } from './run-plans.ts';

async function judgeAll(): Promise<{ readonly count: number; readonly failures: readonly Verdict[] }> {
  const folder = `out/retained-memory-${process.pid}`;
  try {
    const { scheduleCount, failures, seconds } = await runRetainedMemory({
      folder,
      name: 'worker',
      stopsAtFailure: false,
    });
    process.stdout.write(`${scheduleCount} plans in ${seconds.toFixed(1)} s\n`);
    return { count: scheduleCount, failures };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function verdictText({ seed, complaints, trace }: Verdict): string {
  const again = `node --import tsx src/testing/retained-memory/run.ts ${seed}`;
  const lines = [...complaints, ...trace].map((text) => `     ${text}`);
  return `${complaints.length > 0 ? 'FAIL' : 'ok'} seed ${seed}; again with: ${again}\n${lines.join('\n')}\n`;
}

const [, , seed] = process.argv;
if (seed === undefined) {
  const { count, failures } = await judgeAll();
  for (const failure of failures) process.stdout.write(verdictText(failure));
  process.stdout.write(`${count - failures.length} passed, ${failures.length} failed\n`);
  process.exitCode = failures.length === 0 && count > 0 ? 0 : 1;
} else {
  const verdict = await judgePlan(Number(seed));
  process.stdout.write(verdictText(verdict));
  process.exitCode = verdict.complaints.length === 0 ? 0 : 1;
}
