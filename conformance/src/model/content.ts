// Compares a Deliver with the published message. JSON value and headers must be the same; the exact bytes and the headers that the broker
// adds are recommended. Clauses: DELIVERY-052 to 055, DLQ-012 to 015.
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
  note(content.payload === payload, 'DELIVERY-054', 'the payload does not have the published bytes');
  if (countsSendings && isCounted && deadLetter === undefined && sentCount > 0) {
    const right = headers.get('deliveryAttempts') === String(sentCount + 1);
    note(right, 'DELIVERY-055', 'header deliveryAttempts is not the number of deliveries');
  }
  if (deadLetter === undefined) return differences;
  const kept = Object.entries(content.headers).every(([name, value]) => headers.get(name) === value);
  note(kept, 'DLQ-012', 'a dead letter does not keep its headers');
  note(
    headers.get('deadLetterReason') === deadLetter.reason,
    reasonClause(deadLetter.reason),
    reasonText(headers),
  );
  note(
    headers.get('deadLetterSource') === deadLetter.source,
    'DLQ-014',
    'deadLetterSource is not the source queue',
  );
  const { attempts } = deadLetter;
  const isRight = attempts === undefined || headers.get('deadLetterAttempts') === String(attempts);
  note(isRight, 'DLQ-015', 'deadLetterAttempts is not the number of attempts that failed');
  return differences;
}

function reasonClause(reason: string): string {
  return reason === 'QueueOverflow' ? 'OVERFLOW-024' : 'DLQ-013';
}

function reasonText(headers: ReadonlyMap<string, string>): string {
  return `deadLetterReason is ${headers.get('deadLetterReason') ?? 'missing'}, not the reason of the last failure`;
}
