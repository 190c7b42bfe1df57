// JSON payloads of commands as values: objects and their properties, and enumerations by number or name. Implements BODY-034 and BODY-035.

export type Properties = Readonly<Record<string, unknown>>;

/** The object; undefined when the payload is anything else. */
export function parseObject(payload: Buffer): Properties | undefined {
  const value = parseJson(payload);
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Properties)
    : undefined;
}

/** The value; undefined when the payload is not one JSON text in UTF-8. */
export function parseJson(payload: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(payload));
  } catch {
    return undefined;
  }
}

/** The value of an enumeration for its number or its name, in any case. */
export function enumValue<Value extends number>(
  values: Readonly<Record<string, Value>>,
  given: unknown,
): Value | undefined {
  if (typeof given === 'number') return Object.values(values).find((value) => value === given);
  if (typeof given !== 'string') return undefined;
  const wanted = given.toLowerCase();
  return Object.entries(values).find(([name]) => name.toLowerCase() === wanted)?.[1];
}

/** All numbers and names of an enumeration, for messages. */
export function choices(values: Readonly<Record<string, number>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${value} (${name})`)
    .join(', ');
}
