// Whether a Deliver carries what was published: the same value and headers it must, the same bytes and the broker's own headers it
// should. Clauses: DELIVERY-052 to 055, DLQ-012 to 015.
import { isSameJson } from '../json-value.ts';
import type { SeenDelivery } from './delivering.ts';
import type { Difference, Message } from './state.ts';

/** A dead letter need not keep its headers; every other message must. */
export function isSameContent({ content, letter }: Message, { payload, headers }: SeenDelivery): boolean {
  const kept = Object.entries(content.headers).every(([name, value]) => headers.get(name) === value);
  return isSameJson(content.payload, payload) && (kept || letter !== undefined);
}

export function contentDifferences(
  message: Message,
  { payload, headers }: SeenDelivery,
  { countsSendings }: { readonly countsSendings: boolean },
): readonly Difference[] {
  const { content, letter, sentCount, isCounted } = message;
  const differences: Difference[] = [];
  const note = (isRight: boolean, clause: string, text: string): void => {
    if (!isRight) differences.push({ clause, text });
  };
  note(content.payload === payload, 'DELIVERY-054', 'the bytes of the payload are not those published');
  if (countsSendings && isCounted && letter === undefined && sentCount > 0) {
    const right = headers.get('deliveryAttempts') === String(sentCount + 1);
    note(right, 'DELIVERY-055', 'header deliveryAttempts is not the number of sendings');
  }
  if (letter === undefined) return differences;
  const kept = Object.entries(content.headers).every(([name, value]) => headers.get(name) === value);
  note(kept, 'DLQ-012', 'a dead letter loses its headers');
  note(headers.get('deadLetterReason') === letter.reason, reasonClause(letter.reason), reasonText(headers));
  note(headers.get('deadLetterSource') === letter.source, 'DLQ-014', 'deadLetterSource is not its queue');
  const attempts = headers.get('deadLetterAttempts') === String(letter.attempts);
  note(attempts, 'DLQ-015', 'deadLetterAttempts is not the number of attempts that failed');
  return differences;
}

function reasonClause(reason: string): string {
  return reason === 'QueueOverflow' ? 'OVERFLOW-024' : 'DLQ-013';
}

function reasonText(headers: ReadonlyMap<string, string>): string {
  return `deadLetterReason is ${headers.get('deadLetterReason') ?? 'missing'}, another reason than the last failure`;
}
