// The report of a simulation: statistics, how often every required event occurred, and each failing seed with its last events.

import type { Result } from './pool.ts';
import type { Verdict } from './schedule.ts';
import { expectedNames } from './tally.ts';

/** Traces that are printed; the rest of the failing seeds are named. */
const MAX_TRACES = 3;

export function figuresText({ scheduleCount, inputCounts, seconds, failures }: Result): string {
  const inputs = [...inputCounts].sort((a, b) => a - b);
  const total = inputs.reduce((sum, count) => sum + count, 0);
  return (
    `${scheduleCount} schedules in ${seconds.toFixed(1)} s, ${failures.length} failed; ` +
    `inputs: ${total} in all, ${medianOf(inputs)} at the median, ${inputs[0] ?? 0} to ${inputs.at(-1) ?? 0}\n`
  );
}

export function medianOf(counts: readonly number[]): number {
  const sorted = [...counts].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** How often each that must occur did, in two columns. */
export function countsText({ counts }: Result): string {
  const cells = expectedNames().map((name) => `${String(counts[name] ?? 0).padStart(9)}  ${name}`);
  const half = Math.ceil(cells.length / 2);
  const rows = cells
    .slice(0, half)
    .map((cell, index) => `${cell.padEnd(52)}${cells[half + index] ?? ''}`.trimEnd());
  return `${rows.join('\n')}\n`;
}

/** Those that occurred less often than `least` times. */
export function shortfalls({ counts }: Result, least: number): readonly string[] {
  return expectedNames()
    .filter((name) => (counts[name] ?? 0) < least)
    .map((name) => `${name} occurred ${counts[name] ?? 0} times, not ${least}`);
}

export function failuresText(failures: readonly Verdict[]): string {
  const shown = failures.slice(0, MAX_TRACES).map(failureText);
  const others = failures.slice(MAX_TRACES).map(({ seed }) => seed);
  return (
    shown.join('\n') +
    (others.length === 0 ? '' : `Further failing seeds: ${others.slice(0, 30).join(' ')}\n`)
  );
}

function failureText({ seed, complaints, trace }: Verdict): string {
  const lines = [
    `FAIL seed ${seed}; again with: npm run simulate -- --seed ${seed}`,
    ...complaints.slice(0, 5).map((text) => `     ${text}`),
    'The last events (number -> to the broker, <- from it, # batch):',
    ...trace,
  ];
  return `${lines.join('\n')}\n`;
}
