// The result of the accountant: sums as in Jepsen's queue checker, and for each wrong message a sentence with its operations. Data and its
// text; nothing is judged here.
import type { Operation } from './operation.ts';
import { operationText } from './operation.ts';

export type FindingKind = 'lost' | 'duplicated' | 'unexpected' | 'inverted';

export type Finding = {
  readonly kind: FindingKind;
  readonly queue: string;
  readonly id: string;
  readonly text: string;
  /** The broken requirement. */
  readonly clause: string;
};

export type AccountCounts = {
  /** Messages whose Publish was sent. */
  readonly attempted: number;
  readonly confirmed: number;
  readonly refused: number;
  /** Messages without an answer, or with an answer that leaves the outcome open. */
  readonly unknown: number;
  /** Attempted messages that were delivered. */
  readonly ok: number;
  readonly lost: number;
  readonly duplicated: number;
  readonly unexpected: number;
  /** Messages of unknown outcome that were delivered, so that the broker had accepted them. */
  readonly recovered: number;
  /** Allowed deliveries after the first one: after a release, a negative ack or an ack timeout. */
  readonly redelivered: number;
  /** Deliveries after an ack that a crash may have undone. */
  readonly undone: number;
  /** Messages that were delivered before an earlier one of the same publisher. */
  readonly inverted: number;
  /** Confirmed messages that an open connection holds, or that are in queues that were not drained. */
  readonly outstanding: number;
};

export type Account = { readonly counts: AccountCounts; readonly findings: readonly Finding[] };

const shownFindingCount = 5;
const shownOperationCount = 12;

/** `120 attempted, 118 confirmed, ..`: four main sums, and every other sum that is not 0. */
export function accountCountsText(counts: AccountCounts): string {
  const always = new Set(['attempted', 'ok', 'lost', 'duplicated', 'unexpected', 'recovered']);
  return Object.entries(counts)
    .filter(([name, count]) => count > 0 || always.has(name))
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
}

/** The sums, and the first findings with the operations of their messages. */
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
