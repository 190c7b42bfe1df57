// Reads a file that contains one secret. Says why it cannot, and never what is in it. Implements CONFIG-015 and AUTH-054.

import { readFileSync } from 'node:fs';

export type SecretFile =
  | { readonly ok: true; readonly text: string }
  /** `reason`: the predicate of a sentence about the file. */
  | { readonly ok: false; readonly reason: string };

/** The content without one line break at its end, which editors and `echo` add. */
export function readSecretFile(path: string): SecretFile {
  let content: string;
  try {
    content = readFileSync(path, 'utf8');
  } catch (error) {
    return { ok: false, reason: `cannot be read: ${error instanceof Error ? error.message : String(error)}` };
  }
  const text = content.replace(/\r?\n$/, '');
  return text === '' ? { ok: false, reason: 'is empty' } : { ok: true, text };
}
