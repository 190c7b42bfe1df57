// A decoded message as a plain object, so that it can be compared with an expected one.

import type { Message } from '../protocol/message.ts';

/** All fields, without the place that they were decoded from. */
export function fieldsOf(message: Message): Message {
  const { version, command, id, queue, payload, headers, errorCode, errorMessage, endAt } = message;
  return { version, command, id, queue, payload, headers, errorCode, errorMessage, endAt };
}
