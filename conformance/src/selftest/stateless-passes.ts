// The checks that may pass on a stateless broker (stateless-broker.ts), each with the reason: their rule is about an answer only. No other
// check may pass on one.

const passes: readonly { readonly reason: string; readonly checks: readonly string[] }[] = [
  {
    reason: 'a Ping is answered by Pong, however its bytes arrive',
    checks: [
      'BODY-011a',
      'CONN-016c',
      'CONN-017c',
      'CONN-018a',
      'CONN-019a',
      'CONN-020a',
      'CONN-021a',
      'FRAME-015b',
      'FRAME-016a',
    ],
  },
  {
    reason: 'Connect is answered by ConnectAck, and Disconnect by closing',
    checks: [
      'AUTH-001a',
      'AUTH-007a',
      'COMPRESS-010a',
      'CONN-004a',
      'CONN-007a',
      'CONN-024a',
      'CONN-032a',
      'CONN-038a',
      'FRAME-009a',
    ],
  },
  {
    reason: 'a command that changes nothing, or nothing yet, gets its positive answer',
    checks: [
      'BODY-022a',
      'COMPRESS-018a',
      'CONN-006a',
      'CONN-010a',
      'CONN-013a',
      'CONN-025a',
      'CONN-040a',
      'DELIVERY-063a',
      'QUEUE-015a',
    ],
  },
  { reason: 'an Ack gets no answer', checks: ['DELIVERY-058a'] },
  {
    reason: 'bytes that are no frame, or no body, are refused by closing the connection',
    checks: ['BODY-020a', 'BODY-029a', 'CONN-009a', 'FRAME-004a', 'FRAME-007b', 'FRAME-010a', 'FRAME-017a'],
  },
  {
    reason: 'the rule is about the form of a record or of an HTTP answer, not about its values',
    checks: [
      'BODY-034a',
      'BODY-035a',
      'BODY-036a',
      'DASH-002a',
      'DASH-003a',
      'DASH-036a',
      'HEALTH-001a',
      'HEALTH-001b',
      'HEALTH-003a',
      'HEALTH-004a',
      'HEALTH-012a',
      'HTTP-003a',
      'METRICS-001a',
      'METRICS-003a',
      'METRICS-005a',
      'METRICS-006a',
      'METRICS-020a',
    ],
  },
];

export const statelessPasses: ReadonlySet<string> = new Set(passes.flatMap(({ checks }) => checks));
