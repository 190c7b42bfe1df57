// The form in which a history keeps a payload: a text that is equal for equal JSON values, whatever their spelling. Area: DELIVERY.
import { createHash } from 'node:crypto';
import { jsonForm } from '../json-value.ts';

/** Longer contents are kept as digests. */
const wholeLength = 64;

/** Caches the contents of payloads, so that the JSON of a message is parsed once for all its copies. */
export class MessageContents {
  readonly #seen = new Map<string, string>();

  contentOf(payload: string | Buffer | undefined): string {
    const bytes = Buffer.from(payload ?? '');
    const key = shortened(bytes.toString('latin1'));
    const known = this.#seen.get(key);
    if (known !== undefined) return known;
    const content = shortened(jsonForm(bytes) ?? unreadable(bytes));
    this.#seen.set(key, content);
    return content;
  }
}

/** A text that no JSON value has. An empty payload is the empty text. */
function unreadable(bytes: Buffer): string {
  return bytes.length === 0 ? '' : `no JSON, ${bytes.toString('hex')}`;
}

function shortened(text: string): string {
  if (text.length <= wholeLength) return text;
  return `SHA-256 ${createHash('sha256').update(text).digest('hex')} of ${text.length} characters`;
}
