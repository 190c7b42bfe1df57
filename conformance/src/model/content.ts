// Whether a Deliver carries what was published: the same value and headers it must, the same bytes and the broker's own headers it
// should. Clauses: DELIVERY-052 to 055, DLQ-012 to 015.
import { isSameJson } from '../json-value.ts';
import type { SeenDelivery } from './delivery.ts';
import type { Difference, ModelMessage } from './state.ts';

/** A dead letter need not keep its headers; every other message must. */
export function isSameContent(
  { content, deadLetter }: ModelMessage,
  { payload, headers }: SeenDelivery,
): boolean {
  const kept = Object.entries(content.headers).every(([name, value]) => headers.get(name) === value);
  return isSameJson(content.payload, payload) && (kept || deadLetter !== undefined);
}

export function contentDifferences(
  message: ModelMessage,
  { payload, headers }: SeenDelivery,
  { countsSendings }: { readonly countsSendings: boolean },
): readonly Difference[] {
  const { content, deadLetter, sentCount, isCounted } = message;
  const differences: Difference[] = [];
  const note = (isRight: boolean, clause: string, text: string): void => {
    if (!isRight) differences.push({ clause, text });
  };
  note(content.payload === payload, 'DELIVERY-054', 'the bytes of the payload are not those published');
  if (countsSendings && isCounted && deadLetter === undefined && sentCount > 0) {
    const right = headers.get('deliveryAttempts') === String(sentCount + 1);
    note(right, 'DELIVERY-055', 'header deliveryAttempts is not the number of sendings');
  }
  if (deadLetter === undefined) return differences;
  const kept = Object.entries(content.headers).every(([name, value]) => headers.get(name) === value);
  note(kept, 'DLQ-012', 'a dead letter loses its headers');
  note(
    headers.get('deadLetterReason') === deadLetter.reason,
    reasonClause(deadLetter.reason),
    reasonText(headers),
  );
  note(headers.get('deadLetterSource') === deadLetter.source, 'DLQ-014', 'deadLetterSource is not its queue');
  const attempts = headers.get('deadLetterAttempts') === String(deadLetter.attempts);
  note(attempts, 'DLQ-015', 'deadLetterAttempts is not the number of attempts that failed');
  return differences;
}

function reasonClause(reason: string): string {
  return reason === 'QueueOverflow' ? 'OVERFLOW-024' : 'DLQ-013';
}

function reasonText(headers: ReadonlyMap<string, string>): string {
  return `deadLetterReason is ${headers.get('deadLetterReason') ?? 'missing'}, another reason than the last failure`;
}
