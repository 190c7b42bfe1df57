// Judges the contents of the answers to QueueInfo and ListQueues in every check: the fields that QueueInfo must have, and their forms. Pure.
// Areas: QUEUE, BODY.
import { display } from '../expectation.ts';
import { Command } from '../wire/command.ts';
import type { ReceivedFrame } from '../wire/frame.ts';
import type { WatchedBreach } from './watched-breach.ts';

/** The first MUST that the content breaks; undefined if it breaks none, and for other answers. `queues`: those that the command named. */
export function answerBreach(frame: ReceivedFrame, queues: ReadonlySet<string>): WatchedBreach | undefined {
  if (frame.command === Command.ListQueues) return listBreach(frame.payload.toString());
  // A missing queue has no payload.
  if (frame.command !== Command.QueueInfo || frame.payload.length === 0) return undefined;
  return infoBreach(frame.payload.toString(), queues);
}

function listBreach(text: string): WatchedBreach | undefined {
  const names = parsed(text);
  const isList = Array.isArray(names) && names.every((name) => typeof name === 'string');
  const isUnique = isList && new Set(names).size === names.length;
  if (isUnique) return undefined;
  const what = 'ListQueues answers with a JSON array that has each name once';
  return { clause: 'QUEUE-028', what, expected: 'names, each once', actual: display(text) };
}

const count = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0;
/** Whatever a broker accepted as the option. */
const whole = (value: unknown): boolean => Number.isInteger(value);
const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,7})?(Z|\+00:00)$/;
const timeSpan = /^(\d+\.)?\d\d:\d\d:\d\d(\.\d{1,7})?$/;

type Field = {
  readonly name: string;
  readonly fits: (value: unknown) => boolean;
  /** What a value of another form breaks; that the field is there at all is QUEUE-021. */
  readonly clause?: string;
};

const required: readonly Field[] = [
  { name: 'messageCount', fits: count },
  { name: 'subscriberCount', fits: count },
  { name: 'deliveryMode', fits: whole, clause: 'BODY-036' },
  { name: 'maxSize', fits: whole },
  {
    name: 'createdAt',
    fits: (value) => typeof value === 'string' && timestamp.test(value),
    clause: 'BODY-041',
  },
  { name: 'enableDeadLetterQueue', fits: (value) => typeof value === 'boolean' },
  { name: 'overflowStrategy', fits: whole, clause: 'BODY-036' },
  { name: 'maxRetryAttempts', fits: whole },
];

const optional: readonly Field[] = [
  {
    name: 'messageTtl',
    fits: (value) => typeof value === 'string' && timeSpan.test(value),
    clause: 'BODY-040',
  },
  { name: 'deadLetterQueueName', fits: (value) => typeof value === 'string' },
];

function infoBreach(text: string, queues: ReadonlySet<string>): WatchedBreach | undefined {
  const info = parsed(text);
  const broken = (clause: string, expected: string): WatchedBreach => ({
    ...{ clause, what: 'QueueInfo has its fields, each in its form', expected, actual: display(text) },
  });
  // Without a name it may be what the broker says of a missing queue, which is another rule.
  if (typeof info !== 'object' || info === null || !Object.hasOwn(info, 'name')) return undefined;
  const values = info as Readonly<Record<string, unknown>>;
  if (!queues.has(values['name'] as string)) return broken('QUEUE-021', `name ${[...queues].join(' or ')}`);
  for (const { name, fits, clause = 'QUEUE-021' } of required) {
    if (!Object.hasOwn(values, name)) return broken('QUEUE-021', `field ${name}`);
    if (!fits(values[name])) return broken(clause, `another ${name}`);
  }
  const odd = optional.find(({ name, fits }) => (values[name] ?? null) !== null && !fits(values[name]));
  return odd === undefined ? undefined : broken(odd.clause ?? 'QUEUE-023', `another ${odd.name}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
