// The figures of attacks as a table in Markdown.

import { availableParallelism } from 'node:os';
import { attackOf } from './attacks.ts';
import { type AttackResult, BASE_BYTES, BOUND_BYTES } from './run-attack.ts';

const head = `| beside | p50 alone, ms | p50 beside, ms | p99 alone, ms | p99 beside, ms | p99 ratio | peak memory alone, MiB | peak memory, MiB |
|---|--:|--:|--:|--:|--:|--:|--:|
`;

export function hostileTable(results: readonly AttackResult[]): string {
  return head + results.map(rowOf).join('');
}

function rowOf({ attack, alone, beside, aloneResidentBytes, residentBytes }: AttackResult): string {
  const times = [alone.p50Ms, beside.p50Ms, alone.p99Ms, beside.p99Ms].map((ms) => ms.toFixed(2));
  const ratio = (beside.p99Ms / alone.p99Ms).toFixed(1);
  const cells = [
    attackOf(attack).title,
    ...times,
    ratio,
    mebibytes(aloneResidentBytes),
    mebibytes(residentBytes),
  ];
  return `| ${cells.join(' | ')} |\n`;
}

/** The document with the table, for readers. */
export function hostileDocument(
  results: readonly AttackResult[],
  perSecond: number,
  seconds: number,
): string {
  return `# Hostile clients

A broker with memory limits of 64 MiB for messages, 256 MiB for queues and deliveries and 64 MiB for buffers, and without the rate limit, which by
default leaves a hostile address 20 connections a minute. A normal workload of ${perSecond} messages per second publishes, receives and acknowledges
for ${seconds} s, first alone, then beside a hostile client. Each attack has a new broker. The broker must not crash, must complete the normal workload,
and must not take more memory than its limits and ${mebibytes(BASE_BYTES)} MiB: ${mebibytes(BOUND_BYTES)} MiB.

The times are those from publish to delivery. The broker, the workload and the hostile client, which had the lowest priority, shared
${availableParallelism()} cores with whatever else the machine did, so they show which attacks are felt, and not how much on another machine.

\`npm run hostile -- --write\` made this page. \`npm test\` runs a short form of each attack and judges everything but the times.

${hostileTable(results)}${loginText(results)}`;
}

/** What became of the logins, in the attack with logins. */
function loginText(results: readonly AttackResult[]): string {
  const logins = results.find(({ deeds }) => deeds.logins !== undefined)?.deeds.logins;
  if (logins === undefined) return '';
  const rows = Object.entries(logins).flatMap(([kind, answers]) =>
    Object.entries(answers).map(
      ([answer, { count, longestMs }]) => `| ${kind} | ${answer} | ${count} | ${longestMs.toFixed(0)} |\n`,
    ),
  );
  return `
Wrong logins came from one address, and a right one a second from another. A right one must be accepted within 2 s, and one beyond the bound on
waiting checks refused within 100 ms, but for one that gives its place to a right one; \`npm run hostile\` judges both.

| login | answer | count | longest, ms |
|---|---|--:|--:|
${rows.join('')}`;
}

function mebibytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(0);
}
