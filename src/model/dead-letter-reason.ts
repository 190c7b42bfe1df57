// Why a message was dead-lettered: the names on the wire and in stores.

/** QueueOverflow is for OverflowStrategy RedirectToDlq. */
export const deadLetterReasons = [
  'MaxRetriesExceeded',
  'MessageExpired',
  'DeserializationError',
  'HandlerException',
  'QueueOverflow',
] as const;

export type DeadLetterReason = (typeof deadLetterReasons)[number];
