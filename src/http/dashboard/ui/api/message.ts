// Messages as the API answers them. The payload stays the JSON text that was published. Pure.

import { arrayElements, type JsonNode, jsonNode, objectMembers, textOf } from '../json/json-node.ts';

export type Message = {
  readonly id: string;
  /** JSON text; undefined: published without a payload. */
  readonly payload: string | undefined;
  /** When its queue took it, in milliseconds since 1970. */
  readonly acceptedAt: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly version: string;
  readonly priority: string;
  /** How often it was sent. */
  readonly attemptCount: number;
  readonly deadLetter: DeadLetter | undefined;
};

/** Why and where from a message was dead-lettered. */
export type DeadLetter = {
  readonly reason: string;
  readonly source: string;
  readonly attempts: string;
  /** Milliseconds since 1970; NaN when the broker does not say. */
  readonly at: number;
};

/** What tells a message from the others of its queue: dead letters of several queues may have one id. */
export type MessageName = {
  readonly id: string;
  /** The queue that a dead letter comes from. Absent: the message is none, or it may come from any. */
  readonly source?: string;
};

export function nameOf({ id, deadLetter }: Message): MessageName {
  return deadLetter === undefined ? { id } : { id, source: deadLetter.source };
}

/** A name as a key, which no other name has. */
export function keyOf(message: Message): string {
  const { id, source } = nameOf(message);
  return JSON.stringify([id, source]);
}

export function hasName(message: Message, { id, source }: MessageName): boolean {
  return message.id === id && (source === undefined || message.deadLetter?.source === source);
}

/** A name in words: `m1`, `m1 from orders`. */
export function nameInWords(message: Message): string {
  const { id, source } = nameOf(message);
  return source === undefined ? id : `${id} from ${source}`;
}

/** The headers that say so. */
export const deadLetterHeaders: readonly string[] = [
  'deadLetterReason',
  'deadLetterSource',
  'deadLetterAttempts',
  'deadLetteredAt',
];

/** The messages of a list's answer. */
export function readMessages(text: string): readonly Message[] {
  return arrayElements(jsonNode(text)).map(messageOf);
}

/** The message of a message's answer. */
export function readMessage(text: string): Message {
  return messageOf(jsonNode(text));
}

const priorities = ['Low', 'Normal', 'High', 'Critical'];

function messageOf(node: JsonNode): Message {
  const fields = new Map(objectMembers(node).map(({ key, value }) => [key, value]));
  const field = (name: string): string => {
    const value = fields.get(name);
    return value === undefined ? '' : textOf(value);
  };
  const headers = objectMembers(fields.get('headers') ?? jsonNode('{}')).map(
    ({ key, value }) => [key, textOf(value)] as const,
  );
  return {
    id: field('id'),
    payload: fields.get('payload')?.text,
    acceptedAt: Date.parse(field('timestamp')),
    headers,
    version: field('version'),
    priority: priorities[Number(field('priority'))] ?? field('priority'),
    attemptCount: Number(field('delivery_attempts')),
    deadLetter: deadLetterOf(new Map(headers)),
  };
}

function deadLetterOf(headers: ReadonlyMap<string, string>): DeadLetter | undefined {
  const reason = headers.get('deadLetterReason');
  const source = headers.get('deadLetterSource');
  if (reason === undefined || source === undefined) return undefined;
  const at = Date.parse(headers.get('deadLetteredAt') ?? '');
  return { reason, source, attempts: headers.get('deadLetterAttempts') ?? '', at };
}
