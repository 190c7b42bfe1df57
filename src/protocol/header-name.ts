// The header names that have a meaning in the protocol, as on the wire; all other headers are carried unchanged. Data only. Names are
// compared byte by byte (BODY-019).

export const HeaderName = {
  AuthToken: 'authToken',
  AuthUsername: 'authUsername',
  AuthPassword: 'authPassword',
  SupportedCompression: 'supported-compression',
  NegotiatedCompression: 'negotiated-compression',
  ClientVersion: 'clientVersion',
  ServerVersion: 'serverVersion',
  ConnectionId: 'connectionId',
  Capabilities: 'capabilities',
  Priority: 'priority',
  DeliveryAttempts: 'deliveryAttempts',
  MaxInFlight: 'maxInFlight',
  MessageId: 'messageId',
  FailureReason: 'failureReason',
  DeadLetterReason: 'deadLetterReason',
  DeadLetterSource: 'deadLetterSource',
  DeadLetterAttempts: 'deadLetterAttempts',
  DeadLetteredAt: 'deadLetteredAt',
  Reason: 'reason',
} as const;
