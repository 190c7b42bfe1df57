// Reads a file that contains one secret. Says why it cannot, and never what is in it. Implements CONFIG-015 and AUTH-054.

import { readFileSync } from 'node:fs';
import { utf8Text } from './utf8-text.ts';

export type SecretFile =
  | { readonly ok: true; readonly text: string }
  /** `reason`: the predicate of a sentence about the file. */
  | { readonly ok: false; readonly reason: string };

/**
 * The content without one line break at its end, which editors and `echo` add. Bytes that are no text are refused: each would be read as the same
 * character, and so secrets of random bytes as nearly the same secret.
 */
export function readSecretFile(path: string): SecretFile {
  let content: string | undefined;
  try {
    content = utf8Text(readFileSync(path));
  } catch (error) {
    return { ok: false, reason: `cannot be read: ${error instanceof Error ? error.message : String(error)}` };
  }
  if (content === undefined)
    return { ok: false, reason: 'is not UTF-8; a secret is a text, such as that of "base64"' };
  const text = content.replace(/\r?\n$/, '');
  return text === '' ? { ok: false, reason: 'is empty' } : { ok: true, text };
}
