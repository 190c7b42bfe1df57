// Blacks out what must not stand in a report: what the target file's `redactions` match, in every text of a value and in the bytes
// of frames. Applied once, before any reporter sees a result. Clause: secrets never appear in logs and traces (AUTH).

const blackedOut = '[redacted]';

/** A function that copies a value with every match replaced. Throws when a pattern is no regular expression. */
export function redactor(patterns: readonly string[]): <T>(value: T) => T {
  const expressions = patterns.map((pattern) => new RegExp(pattern, 'g'));
  if (expressions.length === 0) return (value) => value;
  const clean = (value: unknown, name: string): unknown => {
    if (typeof value === 'string')
      return name === 'hex' ? cleanHex(value, expressions) : cleanText(value, expressions);
    if (Array.isArray(value)) return value.map((inner) => clean(inner, name));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, clean(inner, key)]));
  };
  return <T>(value: T): T => clean(value, '') as T;
}

function cleanText(text: string, expressions: readonly RegExp[]): string {
  return expressions.reduce((rest, expression) => rest.replace(expression, blackedOut), text);
}

/** What stands on the wire in the clear. As many bytes stay, so that lengths still fit; compressed bytes are not seen through. */
function cleanHex(hex: string, expressions: readonly RegExp[]): string {
  const text = Buffer.from(hex, 'hex').toString('latin1');
  const cleaned = expressions.reduce(
    (rest, expression) => rest.replace(expression, (match) => '*'.repeat(match.length)),
    text,
  );
  return cleaned === text ? hex : Buffer.from(cleaned, 'latin1').toString('hex');
}
