// The error codes that an Error frame may carry. Data only: texts are for people and stand where the error arises. Implements ERROR-003; a
// test compares this file with spec/tables/errors.yaml.

export const ErrorCode = {
  AuthRequired: 'AUTH_REQUIRED',
  AuthFailed: 'AUTH_FAILED',
  NotAuthenticated: 'NOT_AUTHENTICATED',
  NotAuthorized: 'NOT_AUTHORIZED',
  InvalidMessage: 'INVALID_MESSAGE',
  InvalidQueue: 'INVALID_QUEUE',
  InvalidPayload: 'INVALID_PAYLOAD',
  QueueNotFound: 'QUEUE_NOT_FOUND',
  QueueExists: 'QUEUE_EXISTS',
  QueueFull: 'QUEUE_FULL',
  RateLimited: 'RATE_LIMITED',
  ConnectionLimit: 'CONNECTION_LIMIT',
  UnknownCommand: 'UNKNOWN_COMMAND',
  UserExists: 'USER_EXISTS',
  UserNotFound: 'USER_NOT_FOUND',
  Forbidden: 'FORBIDDEN',
  MessageTooLarge: 'MESSAGE_TOO_LARGE',
  MemoryLimit: 'MEMORY_LIMIT',
  LimitExceeded: 'LIMIT_EXCEEDED',
  UnsupportedVersion: 'UNSUPPORTED_VERSION',
  StorageError: 'STORAGE_ERROR',
  ShuttingDown: 'SHUTTING_DOWN',
  ServerError: 'SERVER_ERROR',
} as const;

export type ErrorCode = (typeof ErrorCode)[keyof typeof ErrorCode];
