// Checks the fields of a decoded message, whatever the command. Does not check whether a command needs a queue, nor its payload. Implements
// BODY-005, BODY-015, BODY-016, BODY-022 to BODY-028.

// The global is an accessor, which takes time for each message (docs/internals/performance.md).
import { Buffer } from 'node:buffer';
import { isQueueName, MAX_QUEUE_NAME_LENGTH } from '../model/queue-name.ts';
import { messageFault, type ProtocolFault } from './fault.ts';
import type { ProtocolLimits } from './limits.ts';
import type { Headers, Message } from './message.ts';

/**
 * The valid name of a queue that a connection named last, of at most 256 UTF-16 units: most messages name it again, and matching it again
 * takes 2 percent of a small message.
 */
export type CheckedQueueName = { text: string };

export function noCheckedQueueName(): CheckedQueueName {
  return { text: '' };
}

/** Undefined when the message follows all rules; else INVALID_MESSAGE with the message's id, and the connection stays open. */
export function checkFieldRules(
  message: Message,
  limits: ProtocolLimits,
  checked = noCheckedQueueName(),
): ProtocolFault | undefined {
  const text =
    checkId(message.id, limits) ??
    (message.queue === checked.text ? undefined : checkQueueName(message.queue, checked)) ??
    (message.headers.size === 0 ? undefined : checkHeaders(message.headers, limits));
  return text === undefined ? undefined : messageFault(text, message.id);
}

function checkId(id: string, limits: ProtocolLimits): string | undefined {
  if (id === '') return 'The id is empty.';
  // A UTF-16 unit takes at most 3 bytes: short ids need no counting.
  if (id.length * 3 <= limits.maxIdBytes || Buffer.byteLength(id) <= limits.maxIdBytes) return undefined;
  return `The id is longer than ${limits.maxIdBytes} bytes.`;
}

function checkQueueName(name: string, checked: CheckedQueueName): string | undefined {
  if (name === '') return undefined;
  if (isQueueName(name)) {
    checked.text = name;
    return undefined;
  }
  return `The queue name must have 1 to ${MAX_QUEUE_NAME_LENGTH} letters, digits, "-", "_" or ".".`;
}

function checkHeaders(headers: Headers, limits: ProtocolLimits): string | undefined {
  if (headers.size > limits.maxHeaderCount) return `There are more than ${limits.maxHeaderCount} headers.`;
  for (const value of headers.values()) {
    if (value.length > limits.maxHeaderValueLength) {
      return `A header value is longer than ${limits.maxHeaderValueLength} characters.`;
    }
  }
  return undefined;
}
