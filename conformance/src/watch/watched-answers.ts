// Judges the contents of answers in every check: the fields that QueueInfo and the answers to admin commands must have, and their forms, and
// the names in ListQueues. Pure. Areas: QUEUE, BODY, AUTH.
import { display } from '../expectation.ts';
import { Command } from '../wire/command.ts';
import type { ReceivedFrame } from '../wire/frame.ts';
import { operations } from '../wire/operations.ts';
import type { UntimedBreach } from './watched-breach.ts';
import type { RecordForm } from './watched-fields.ts';
import {
  fieldBreach,
  isBoolean,
  isCount,
  isRecord,
  isText,
  isTimeSpan,
  isTimestamp,
  isWhole,
  parsedJson,
} from './watched-fields.ts';

/** The first MUST that the content breaks; undefined if it breaks none, and for other answers. `queues`: those that the command named. */
export function answerBreach(frame: ReceivedFrame, queues: ReadonlySet<string>): UntimedBreach | undefined {
  const text = frame.payload.toString();
  if (frame.command === Command.ListQueues) return listBreach(text);
  // A missing queue has no payload; nor need a broker without users have one, which should refuse the command.
  if (text === '') return undefined;
  if (frame.command === Command.QueueInfo) return infoBreach(text, queues);
  const form = listForms.get(frame.command);
  return form === undefined ? undefined : recordsBreach(text, form);
}

function listBreach(text: string): UntimedBreach | undefined {
  const names = parsedJson(text);
  const isList = Array.isArray(names) && names.every(isText);
  const isUnique = isList && new Set(names).size === names.length;
  if (isUnique) return undefined;
  const what = 'ListQueues answers with a JSON array that has each name once';
  return { clause: 'QUEUE-028', what, expected: 'names, each once', actual: display(text) };
}

const infoForm: RecordForm = {
  what: 'QueueInfo has its fields, each in its form',
  clause: 'QUEUE-021',
  required: [
    { name: 'messageCount', fits: isCount },
    { name: 'subscriberCount', fits: isCount },
    // Whatever a broker accepted as an option.
    { name: 'deliveryMode', fits: isWhole, clause: 'BODY-036' },
    { name: 'maxSize', fits: isWhole },
    { name: 'createdAt', fits: isTimestamp, clause: 'BODY-041' },
    { name: 'enableDeadLetterQueue', fits: isBoolean },
    { name: 'overflowStrategy', fits: isWhole, clause: 'BODY-036' },
    { name: 'maxRetryAttempts', fits: isWhole },
  ],
  optional: [
    { name: 'messageTtl', fits: isTimeSpan, clause: 'BODY-040' },
    { name: 'deadLetterQueueName', fits: isText, clause: 'QUEUE-023' },
  ],
};

function infoBreach(text: string, queues: ReadonlySet<string>): UntimedBreach | undefined {
  const info = parsedJson(text);
  // Without a name it may be what the broker says of a missing queue, which is another rule.
  if (!isRecord(info) || !Object.hasOwn(info, 'name')) return undefined;
  const isNamed = queues.has(info['name'] as string);
  if (isNamed) return fieldBreach(info, infoForm);
  const expected = `name ${[...queues].join(' or ')}`;
  return { clause: infoForm.clause, what: infoForm.what, expected, actual: display(info) };
}

const operationNames: ReadonlySet<unknown> = new Set(operations);
const areOperations = (value: unknown): boolean =>
  Array.isArray(value) && value.every((one) => operationNames.has(one));

/** The answers that are lists of records, by command. */
const listForms: ReadonlyMap<number, RecordForm> = new Map([
  [
    Command.AdminListUsers,
    {
      what: 'AdminListUsers answers with an array of users, each with its fields',
      clause: 'AUTH-041',
      required: [
        { name: 'username', fits: isText },
        { name: 'isSuperuser', fits: isBoolean },
        { name: 'createdAt', fits: isWhole },
      ],
    },
  ],
  [
    Command.AdminGetUserPermissions,
    {
      what: 'AdminGetUserPermissions answers with an array of entries, each with its fields',
      clause: 'AUTH-042',
      required: [
        { name: 'queuePattern', fits: isText },
        { name: 'operations', fits: areOperations, clause: 'AUTH-034' },
      ],
    },
  ],
]);

function recordsBreach(text: string, form: RecordForm): UntimedBreach | undefined {
  const records = parsedJson(text);
  const isList = Array.isArray(records) && records.every(isRecord);
  if (!isList)
    return { clause: form.clause, what: form.what, expected: 'an array of objects', actual: display(text) };
  for (const record of records) {
    const breach = fieldBreach(record, form);
    if (breach !== undefined) return breach;
  }
  return undefined;
}
