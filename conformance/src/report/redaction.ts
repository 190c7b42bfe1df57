// Blacks out what must not stand in a report: what the target file's `redactions` match, in every text of a value. Applied once,
// before any reporter sees a result. Clause: secrets never appear in logs and traces (AUTH).

const blackedOut = '[redacted]';

/** A function that copies a value with every match replaced. Throws when a pattern is no regular expression. */
export function redactor(patterns: readonly string[]): <T>(value: T) => T {
  const expressions = patterns.map((pattern) => new RegExp(pattern, 'g'));
  if (expressions.length === 0) return (value) => value;
  const clean = (value: unknown): unknown => {
    if (typeof value === 'string')
      return expressions.reduce((text, expression) => text.replace(expression, blackedOut), value);
    if (Array.isArray(value)) return value.map(clean);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, clean(inner)]));
  };
  return <T>(value: T): T => clean(value) as T;
}
