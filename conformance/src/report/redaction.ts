// Blacks out everything that the `redactions` of the target file match, in texts and in the bytes of frames. Applied once, before any
// reporter gets a result. Clause: secrets never appear in logs and traces (AUTH).

/** What stands in the place of a match in a text. */
const blackedOut = '[redacted]';

/** Keys whose texts are words of the runner, never of a broker. A log without them, or with other ones, could not be read. */
const ownWords: ReadonlySet<string> = new Set([
  ...['type', 'kind', 'lifecycle', 'startedAt', 'finishedAt', 'digest', 'planDigest', 'plan', 'assigned'],
  ...['level', 'profile', 'profiles', 'unbuilt', 'capabilities', 'wire', 'connection', 'byRunner'],
  ...['outcome', 'clause', 'clauses', 'reliesOn', 'possibleCauses', 'requiredStep', 'shownBy', 'blocked'],
  ...['expect', 'until', 'status', 'gate'],
]);
/** Other texts have this key too, such as ids of frames. */
const ruleOrCheck = /^[A-Z]+-\d{3}[a-z]?$/;

/**
 * A function that copies a value with every match replaced; what has bytes that were replaced gets `redacted: true`. Throws if a pattern is
 * not a regular expression.
 */
export function redactor(patterns: readonly string[]): <T>(value: T) => T {
  const expressions = patterns.map((pattern) => new RegExp(pattern, 'g'));
  if (expressions.length === 0) return (value) => value;
  const clean = (value: unknown, name: string): unknown => {
    if (typeof value === 'string') {
      if (ownWords.has(name) || (name === 'id' && ruleOrCheck.test(value))) return value;
      return name === 'hex' ? cleanHex(value, expressions) : cleanText(value, expressions);
    }
    if (Array.isArray(value)) return value.map((inner) => clean(inner, name));
    if (typeof value !== 'object' || value === null) return value;
    const copy = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, clean(inner, key)]));
    return 'hex' in value && copy['hex'] !== value.hex ? { ...copy, redacted: true } : copy;
  };
  return <T>(value: T): T => clean(value, '') as T;
}

function cleanText(text: string, expressions: readonly RegExp[]): string {
  // A pattern such as `x*` also matches between characters, where nothing has to be hidden.
  const replacement = (match: string): string => (match === '' ? '' : blackedOut);
  return expressions.reduce((rest, expression) => rest.replace(expression, replacement), text);
}

/** Replaces matches in uncompressed bytes by the same number of bytes, so that lengths still fit. */
function cleanHex(hex: string, expressions: readonly RegExp[]): string {
  const text = Buffer.from(hex, 'hex').toString('latin1');
  const cleaned = expressions.reduce(
    (rest, expression) => rest.replace(expression, (match) => '*'.repeat(match.length)),
    text,
  );
  return cleaned === text ? hex : Buffer.from(cleaned, 'latin1').toString('hex');
}
