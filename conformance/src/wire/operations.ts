// The operations of access lists, by their names on the wire (AUTH-034). Data only.

export const operations = [
  'Publish',
  'Subscribe',
  'CreateQueue',
  'DeleteQueue',
  'PurgeQueue',
  'GetQueueInfo',
  'ListQueues',
] as const;
export type OperationName = (typeof operations)[number];
