// The header names that mean something to the protocol, as they stand on the wire; all others are carried unchanged.
// Data only. Names are compared byte by byte. Implements the header table of areas CONN, COMPRESS, PUBLISH, DELIVERY.

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
