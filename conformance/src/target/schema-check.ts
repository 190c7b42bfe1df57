// Checks a value against a JSON Schema and describes each fault: the key, the value, what is allowed. It knows only the keywords that the
// published schemas use. Another keyword throws, so that no rule of a schema is silently ignored.

export type Schema = {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly uniqueItems?: boolean;
  readonly minLength?: number;
  readonly pattern?: string;
  /** What a pattern allows, in words. */
  readonly title?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly oneOf?: readonly Schema[];
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
};

const annotations = new Set(['$schema', '$id', 'title', 'description', '$defs']);

type Rule = (schema: Schema, value: unknown, key: string, root: Schema) => readonly string[];

/** The faults of `value`, each one sentence; empty when there are none. */
export function schemaFaults(
  schema: Schema,
  value: unknown,
  key = '',
  root: Schema = schema,
): readonly string[] {
  return Object.keys(schema).flatMap((keyword) => {
    if (annotations.has(keyword)) return [];
    const rule = rules.get(keyword);
    if (rule === undefined) throw new Error(`schema keyword ${keyword} is not known to the checker`);
    return rule(schema, value, key, root);
  });
}

const rules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['type', ({ type }, value, key) => typeFaults([type ?? []].flat(), value, key)],
  ['const', ({ const: wanted }, value, key) => fault(value === wanted, key, value, show(wanted))],
  [
    'enum',
    ({ enum: all = [] }, value, key) => fault(all.includes(value), key, value, all.map(show).join(', ')),
  ],
  ['properties', propertyFaults],
  ['required', requiredFaults],
  ['additionalProperties', unknownKeyFaults],
  ['items', itemFaults],
  ['minItems', ({ minItems = 0 }, value, key) => lengthFault(value, minItems, key, 'entries')],
  ['uniqueItems', repeatFaults],
  ['minLength', ({ minLength = 0 }, value, key) => lengthFault(value, minLength, key, 'characters')],
  ['pattern', patternFaults],
  ['minimum', (schema, value, key) => rangeFault(schema, value, key)],
  ['maximum', (schema, value, key) => ('minimum' in schema ? [] : rangeFault(schema, value, key))],
  ['oneOf', branchFaults],
  ['$ref', ({ $ref = '' }, value, key, root) => schemaFaults(resolve($ref, root), value, key, root)],
]);

function typeFaults(types: readonly string[], value: unknown, key: string): readonly string[] {
  return fault(
    types.some((type) => hasType(value, type)),
    key,
    value,
    types.map(article).join(' or '),
  );
}

function hasType(value: unknown, type: string): boolean {
  if (type === 'integer') return Number.isSafeInteger(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'null') return value === null;
  if (type === 'object') return isRecord(value);
  return typeof value === type;
}

function propertyFaults(schema: Schema, value: unknown, key: string, root: Schema): readonly string[] {
  if (!isRecord(value)) return [];
  return Object.entries(schema.properties ?? {}).flatMap(([name, inner]) =>
    name in value ? schemaFaults(inner, value[name], join(key, name), root) : [],
  );
}

function requiredFaults({ required = [] }: Schema, value: unknown, key: string): readonly string[] {
  if (!isRecord(value)) return [];
  return required.filter((name) => !(name in value)).map((name) => `${join(key, name)} is missing`);
}

function unknownKeyFaults(schema: Schema, value: unknown, key: string, root: Schema): readonly string[] {
  if (!isRecord(value) || schema.additionalProperties === true) return [];
  const known = Object.keys(schema.properties ?? {});
  const others = Object.keys(value).filter((name) => !known.includes(name));
  const inner = schema.additionalProperties;
  if (typeof inner === 'object') {
    return others.flatMap((name) => schemaFaults(inner, value[name], join(key, name), root));
  }
  return others.map((name) => `${join(key, name)} is not known; known here: ${known.join(', ')}`);
}

function itemFaults({ items = {} }: Schema, value: unknown, key: string, root: Schema): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item, index) => schemaFaults(items, item, `${key}[${index}]`, root));
}

function repeatFaults(_schema: Schema, value: unknown, key: string): readonly string[] {
  if (!Array.isArray(value)) return [];
  const shown = value.map(jsonOf);
  const repeated = shown.filter((text, index) => shown.indexOf(text) < index);
  return [...new Set(repeated)].map((text) => `${key}: ${text} came more than once, allowed: once`);
}

function lengthFault(value: unknown, least: number, key: string, unit: string): readonly string[] {
  if (typeof value !== 'string' && !Array.isArray(value)) return [];
  return fault(value.length >= least, key, value, `at least ${least} ${unit}`);
}

function patternFaults({ pattern = '', title }: Schema, value: unknown, key: string): readonly string[] {
  if (typeof value !== 'string') return [];
  return fault(new RegExp(pattern).test(value), key, value, title ?? `text like ${pattern}`);
}

function rangeFault({ minimum, maximum }: Schema, value: unknown, key: string): readonly string[] {
  if (typeof value !== 'number') return [];
  const inRange = value >= (minimum ?? value) && value <= (maximum ?? value);
  const allowed = maximum === undefined ? `${minimum} or more` : `${minimum ?? 'anything'} to ${maximum}`;
  return fault(inRange, key, value, allowed);
}

/** One constant, e.g. `kind`, selects a branch; the faults of that branch are returned. */
function branchFaults({ oneOf = [] }: Schema, value: unknown, key: string, root: Schema): readonly string[] {
  if (!isRecord(value)) return typeFaults(['object'], value, key);
  const branches = oneOf.map((branch) => (branch.$ref === undefined ? branch : resolve(branch.$ref, root)));
  const name = discriminator(branches);
  const meant = branches.find((branch) => branch.properties?.[name]?.const === value[name]);
  if (meant !== undefined) return schemaFaults(meant, value, key, root);
  const allowed = branches.map((branch) => show(branch.properties?.[name]?.const));
  return fault(false, join(key, name), value[name], allowed.join(', '));
}

/** The property with a different constant in each branch. */
function discriminator(branches: readonly Schema[]): string {
  const names = Object.keys(branches[0]?.properties ?? {});
  const found = names.find((name) => {
    const wanted = branches.map((branch) => branch.properties?.[name]?.const);
    return !wanted.includes(undefined) && new Set(wanted).size === branches.length;
  });
  if (found === undefined)
    throw new Error('the branches of oneOf have no property with a different constant in each');
  return found;
}

function resolve($ref: string, root: Schema): Schema {
  const found = root.$defs?.[$ref.replace('#/$defs/', '')];
  if (found === undefined) throw new Error(`schema reference ${$ref} does not exist`);
  return found;
}

function fault(holds: boolean, key: string, value: unknown, allowed: string): readonly string[] {
  return holds ? [] : [`${key === '' ? 'the document' : key}: ${show(value)} came, allowed: ${allowed}`];
}

function show(value: unknown): string {
  const text = value === undefined ? 'nothing' : jsonOf(value);
  return text.length <= 80 ? text : `${text.slice(0, 80)}..`;
}

/** An alias of YAML can name what it is in, which has no JSON. */
function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return 'a value that contains itself';
  }
}

function article(type: string): string {
  return type === 'null' ? 'null' : /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function join(key: string, name: string): string {
  return key === '' ? name : `${key}.${name}`;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
