// What the contrary broker decides otherwise and no check of the suite sees there, each with the reason. Data only; it grows only where
// there is no way to see the difference from outside, or none without something that is a MAY.

export const unseenDifferences: Readonly<Record<string, string>> = {
  'DELIVERY-004':
    'seen only with header maxInFlight, which is a MAY: without it nobody knows how large a window is',
  'DELIVERY-009': 'seen only with header maxInFlight',
  'DELIVERY-018': 'seen only with header maxInFlight',
  'DELIVERY-019': 'seen only with header maxInFlight',
  'QUEUE-013':
    'a broker that confirms CreateQueue with other options too does not show which it takes for equal',
  'QUEUE-018':
    'an Ack that settles a message of a deleted queue changes nothing that anybody sees afterwards',
  'DLQ-009': 'the shorter form of the metrics record, which is as right, has no total_errors',
};
