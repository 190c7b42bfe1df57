// The recommendations that the contrary broker does not follow and that no check can see on it, each with the reason. Data only. Add an
// entry only if the difference cannot be seen from outside, or only with something that is a MAY.

export const unseenDifferences: Readonly<Record<string, string>> = {
  'DELIVERY-004':
    'visible only with header maxInFlight, which is a MAY: without it a check does not know the size of the window',
  'DELIVERY-009': 'visible only with header maxInFlight',
  'DELIVERY-018': 'visible only with header maxInFlight',
  'DELIVERY-019': 'visible only with header maxInFlight',
  'QUEUE-013':
    'a broker that confirms CreateQueue with different options too does not show which options it treats as equal',
  'DLQ-009': 'the short form of the metrics record has no total_errors, and the short form is allowed',
  'AUTH-010': 'the suite does not measure the times of comparisons',
  'AUTH-011': 'the suite does not measure the times of refusals',
  'AUTH-014': 'the runner connects from one address',
  'AUTH-055': 'the stored form of a password is not visible from outside',
};
