// Tables of names and their numbers, such as DeliveryMode: from a number to its name. Pure.

/** The name of a number of the table. @throws Error when the table does not have it */
export function nameOfNumber<Name extends string, Value extends number>(
  table: Readonly<Record<Name, Value>>,
  number: Value,
): Name {
  const names = Object.keys(table) as Name[];
  const name = names.find((candidate) => table[candidate] === number);
  if (name === undefined) throw new Error(`${number} is none of ${names.join(', ')}`);
  return name;
}
