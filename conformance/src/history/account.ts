// What the accountant hands out: sums as Jepsen's queue checker gives them, and for each message that does not add up a sentence with
// the operations behind it. Data and its text; nothing is judged here.
import type { Operation } from './operation.ts';
import { operationText } from './operation.ts';

export type FindingKind = 'lost' | 'duplicated' | 'unexpected' | 'inverted';

export type Finding = {
  readonly kind: FindingKind;
  readonly queue: string;
  readonly id: string;
  readonly text: string;
  /** The requirement that it breaks. */
  readonly clause: string;
};

export type AccountCounts = {
  /** Messages whose Publish was sent. */
  readonly attempted: number;
  readonly confirmed: number;
  readonly refused: number;
  /** Messages that nobody can know of: no answer came, or one that leaves it open. */
  readonly unknown: number;
  /** Attempted messages that were delivered. */
  readonly ok: number;
  readonly lost: number;
  readonly duplicated: number;
  readonly unexpected: number;
  /** Messages of unknown outcome that were delivered: they did get through. */
  readonly recovered: number;
  /** Deliveries after the first that the rules allow: given back, refused, or not acknowledged in time. */
  readonly redelivered: number;
  /** Deliveries after an ack that a crash may have undone. */
  readonly undone: number;
  /** Messages that came before an earlier one of the same publisher. */
  readonly inverted: number;
  /** Confirmed messages that are held by an open connection, or are in queues that were not drained. */
  readonly outstanding: number;
};

export type Account = { readonly counts: AccountCounts; readonly findings: readonly Finding[] };

const shownFindingCount = 5;
const shownOperationCount = 12;

/** `120 attempted, 118 confirmed, ..`: what is 0 is left out, but for the four sums that matter. */
export function accountCountsText(counts: AccountCounts): string {
  const always = new Set(['attempted', 'ok', 'lost', 'duplicated', 'unexpected', 'recovered']);
  return Object.entries(counts)
    .filter(([name, count]) => count > 0 || always.has(name))
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
}

/** The sums, and the first findings with all that happened to their messages. */
export function accountLines(account: Account, operations: readonly Operation[]): readonly string[] {
  const shown = account.findings.slice(0, shownFindingCount);
  const more = account.findings.length - shown.length;
  return [
    accountCountsText(account.counts),
    ...shown.flatMap((finding) => findingLines(finding, operations)),
    ...(more > 0 ? [`.. and ${more} more`] : []),
  ];
}

function findingLines(finding: Finding, operations: readonly Operation[]): readonly string[] {
  const own = operations.filter((operation) => 'id' in operation && operation.id === finding.id);
  return [
    `${finding.kind}: ${finding.id} of ${finding.queue}: ${finding.text} (${finding.clause})`,
    ...own.slice(0, shownOperationCount).map((operation) => `  ${operationText(operation)}`),
  ];
}
