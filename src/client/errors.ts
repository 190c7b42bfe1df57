// The errors of the client library: one class per kind, each with a `code` that programs can compare.

/** The base class of all errors of the client library. */
export class ClientError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** The broker answered a command with Error; `code` is the broker's error code, e.g. `QUEUE_FULL`. */
export class CommandError extends ClientError {
  constructor(code: string, text: string) {
    super(code, text === '' ? code : `${code}: ${text}`);
  }
}

/** The broker did not answer a command in time; whether it was carried out is not known. `code` is `COMMAND_TIMEOUT`. */
export class CommandTimeoutError extends ClientError {
  constructor(command: string, timeoutMs: number) {
    super('COMMAND_TIMEOUT', `no answer to ${command} within ${timeoutMs} ms`);
  }
}

/**
 * There is no connection: it could not be made (`code` is the system's, e.g. `ECONNREFUSED`), or it ended (`CONNECTION_ENDED`).
 * Whether commands that were under way were carried out is not known.
 */
export class ConnectionError extends ClientError {}

/** The broker sent something that the protocol does not allow; the connection is closed. `code` is the fault's. */
export class ProtocolError extends ClientError {}

/** A payload is not JSON. Thrown in a handler, it tells the broker not to try again. `code` is `DESERIALIZATION_ERROR`. */
export class DeserializationError extends ClientError {
  constructor(cause: unknown) {
    super('DESERIALIZATION_ERROR', 'the payload is not JSON', { cause });
  }
}
