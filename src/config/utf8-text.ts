// The text of a file in UTF-8, for files of configuration and of secrets: a byte that is no text must not become another character. Pure.

/** Without a byte order mark; undefined when it is not UTF-8. Every other character of UTF-16 has a zero byte. */
export function utf8Text(bytes: Buffer): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}
