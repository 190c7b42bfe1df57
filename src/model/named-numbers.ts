// Tables of names and their numbers, such as DeliveryMode: between names and numbers. Pure.

/** The name of a number of the table. @throws Error when the table does not have it */
export function nameOfNumber<Name extends string, Value extends number>(
  table: Readonly<Record<Name, Value>>,
  number: Value,
): Name {
  const names = Object.keys(table) as Name[];
  const name = names.find((candidate) => table[candidate] === number);
  if (name === undefined) throw new Error(`${number} is not one of ${names.join(', ')}`);
  return name;
}

/** The number of a name of the table. @throws TypeError when the table does not have it: callers in JavaScript are not type-checked */
export function numberOfName<Name extends string, Value extends number>(
  table: Readonly<Record<Name, Value>>,
  name: Name,
): Value {
  if (Object.hasOwn(table, name)) return table[name];
  throw new TypeError(`${JSON.stringify(name)} is not one of ${Object.keys(table).join(', ')}`);
}
