// The rule for queue names, for broker, client and tools. Implements BODY (names of queues).

/** The longest queue name, in UTF-16 units. */
export const MAX_QUEUE_NAME_LENGTH = 256;

// The first is many times quicker than the second, which contains it, and matches nearly every name.
const asciiName = /^[-\w.]+$/;
const anyName = /^[-_.\p{L}\p{Nd}]+$/u;

/** Whether the text is a queue name: 1 to 256 UTF-16 units of letters and digits of any script, `-`, `_` and `.`. */
export function isQueueName(text: string): boolean {
  return text.length <= MAX_QUEUE_NAME_LENGTH && (asciiName.test(text) || anyName.test(text));
}
