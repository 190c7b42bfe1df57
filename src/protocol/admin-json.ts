// The JSON of admin commands between the wire and the model's types, for broker and client: entries of access lists, operations, and the
// summaries of users. Implements AUTH-034, AUTH-041 and AUTH-042.

import { type AccessEntry, QueueOperation, type QueueOperationName } from '../model/access.ts';
import { nameOfNumber } from '../model/named-numbers.ts';
import { enumValue, type Properties, parseJson } from './json-properties.ts';

export type UserProperties = {
  readonly username: string;
  readonly isSuperuser: boolean;
  /** Unix seconds. */
  readonly createdAt: number;
};

/** Operations by their names, in any case, or their numbers; undefined when the value is no list of such. */
export function readOperations(value: unknown): readonly QueueOperation[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const operations = value.map((one) => enumValue(QueueOperation, one));
  return operations.every((operation) => operation !== undefined) ? [...new Set(operations)] : undefined;
}

export function operationNames(operations: readonly QueueOperation[]): readonly QueueOperationName[] {
  return operations.map((operation) => nameOfNumber(QueueOperation, operation));
}

export function accessEntryJson({ queuePattern, operations }: AccessEntry): Properties {
  return { queuePattern, operations: operationNames(operations) };
}

/** The payload of an AdminGetUserPermissions answer; undefined when it does not have that form. */
export function readAccessList(payload: Buffer): readonly AccessEntry[] | undefined {
  return readList(payload, ({ queuePattern, operations: listed }) => {
    const operations = readOperations(listed);
    return typeof queuePattern === 'string' && operations !== undefined
      ? { queuePattern, operations }
      : undefined;
  });
}

/** The payload of an AdminListUsers answer; undefined when it does not have that form. */
export function readUsers(payload: Buffer): readonly UserProperties[] | undefined {
  return readList(payload, ({ username, isSuperuser, createdAt }) => {
    const isWhole = typeof username === 'string' && typeof isSuperuser === 'boolean';
    return isWhole && typeof createdAt === 'number' ? { username, isSuperuser, createdAt } : undefined;
  });
}

function readList<Item>(
  payload: Buffer,
  readItem: (properties: Properties) => Item | undefined,
): readonly Item[] | undefined {
  const list = parseJson(payload);
  if (!Array.isArray(list)) return undefined;
  const items = list.map((item: unknown) =>
    typeof item === 'object' && item !== null ? readItem(item as Properties) : undefined,
  );
  return items.every((item) => item !== undefined) ? items : undefined;
}
