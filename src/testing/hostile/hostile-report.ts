// The figures of attacks as a table in Markdown.

import { availableParallelism } from 'node:os';
import { type AttackFigures, MAX_RATIO } from './attack-figures.ts';
import { attackOf } from './attacks.ts';
import { BASE_BYTES, BOUND_BYTES } from './run-attack.ts';

export type Load = {
  readonly perSecond: number;
  readonly seconds: number;
  readonly rounds: number;
  /** Whether broker and workload went before everything else on the machine. */
  readonly wentFirst: boolean;
};

const columns = [
  'beside',
  'p50 alone, ms',
  'p50 beside, ms',
  'p99 alone, ms',
  'p99 control, ms',
  'p99 beside, ms',
  'to alone',
  'to control',
  'goal',
  'peak memory alone, MiB',
  'peak memory, MiB',
];

/** A table of the broker as it is by default, and one of the broker that does not limit rates. */
export function hostileTables(all: readonly AttackFigures[]): string {
  const [limited, others] = [true, false].map((limitsRates) =>
    hostileTable(all.filter((one) => one.limitsRates === limitsRates)),
  );
  return `## With the default limits of rates

A client may publish 1,000 messages a second and is refused as many; then nothing more is read of it until the second is over. An address may open
20 connections a minute.

${limited}
## Without limits of rates

Here a client may do whatever it can as fast as it can.

${others}`;
}

function hostileTable(all: readonly AttackFigures[]): string {
  const rule = columns.map((_, index) => (index === 0 ? '---' : '--:'));
  return [columns, rule, ...all.map(cellsOf)].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

function cellsOf({
  attack,
  alone,
  control,
  beside,
  ratio,
  isMet,
  ...memory
}: AttackFigures): readonly string[] {
  return [
    attackOf(attack).title,
    ...[alone.p50Ms, beside.p50Ms, alone.p99Ms].map((ms) => ms.toFixed(2)),
    control?.p99Ms.toFixed(2) ?? '',
    beside.p99Ms.toFixed(2),
    ratio.toFixed(1),
    control === undefined ? '' : (beside.p99Ms / control.p99Ms).toFixed(1),
    isMet ? 'met' : 'missed',
    mebibytes(memory.aloneResidentBytes),
    mebibytes(memory.residentBytes),
  ];
}

/** Without this the page would show the scheduler of the machine rather than the broker. */
const firstText = `The main threads of broker and workload went before everything else, because clients are usually on other machines, and take no
processor from the broker there: without it, even the control took several times as long, since a process may wait 4 ms for another one that has its core. Where rates are limited they had a priority of real time; where
they are not, the broker may be always busy, and from such a process Linux takes the processor away for 50 ms of each second, so there they had the highest usual one. `;

/** Where the system does not allow that. */
const waitedText =
  'Broker and workload waited for a processor as other programs do, so these times show the scheduler of the machine too. ';

/** The document with the table, for readers. */
export function hostileDocument(all: readonly AttackFigures[], load: Load): string {
  return `# Hostile clients

A broker has memory limits of 64 MiB for messages, 256 MiB for queues and deliveries and 64 MiB for buffers. A normal workload of ${load.perSecond}
messages per second publishes, receives and acknowledges for ${load.seconds} s, first alone, then beside a hostile client at the same address. Each
attack and round has a new broker. The broker must not crash, must complete the normal workload, and must not take more memory than its limits and
${mebibytes(BASE_BYTES)} MiB: ${mebibytes(BOUND_BYTES)} MiB.

The times are those from publish to delivery, the medians of ${load.rounds} rounds. The broker, the workload and the hostile client shared
${availableParallelism()} cores with whatever else the machine did. ${load.wentFirst ? firstText : waitedText}The hostile client ran when neither of the others wanted to, except that of the wrong logins, which measures
its answers. The control is the same attack on a process that takes everything in and does nothing
with it, while the workload runs on the broker: it shows what the hostile client costs such a machine whatever the broker does. The goal is a
p99 of at most ${MAX_RATIO} times of what it is alone.

\`npm run hostile -- --write\` made this page. \`npm test\` runs a short form of each attack and judges everything but the times.

${hostileTables(all)}${loginText(all)}`;
}

/** What became of the logins, in the attack with logins. */
function loginText(all: readonly AttackFigures[]): string {
  const logins = all.find((one) => !one.limitsRates && one.logins !== undefined)?.logins;
  if (logins === undefined) return '';
  const rows = Object.entries({ wrong: logins.wrong, right: logins.right }).flatMap(([kind, answers]) =>
    Object.entries(answers).map(
      ([answer, { count, longestMs }]) => `| ${kind} | ${answer} | ${count} | ${longestMs.toFixed(0)} |\n`,
    ),
  );
  return `
Without limits of rates, wrong logins came from one address, and a right one a second from another. A right one must be accepted within 2 s, and one beyond the bound on
waiting checks refused within 100 ms, but for one that gives its place to a right one; \`npm run hostile\` judges both.

| login | answer | count | longest, ms |
|---|---|--:|--:|
${rows.join('')}`;
}

function mebibytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(0);
}
