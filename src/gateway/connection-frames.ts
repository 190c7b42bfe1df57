// The frames that the broker sends without a command: ConnectAck headers, Disconnect and connection errors.

import type { ConnectionId } from '../broker/interface/input.ts';
import { ErrorCode } from '../model/error-code.ts';
import { Command } from '../protocol/command.ts';
import { HeaderName } from '../protocol/header-name.ts';
import type { Headers, MessageFields } from '../protocol/message.ts';

/** The optional features that ConnectAck announces. */
const CAPABILITIES = 'nack,maxInFlight';

export function connectAckHeaders(connection: ConnectionId, serverVersion: string): Headers {
  return new Map([
    [HeaderName.ServerVersion, serverVersion],
    [HeaderName.ConnectionId, String(connection)],
    [HeaderName.Capabilities, CAPABILITIES],
  ]);
}

/** The broker closes the connection, with a reason of the protocol. */
export function disconnectFields(id: string, reason: 'server_shutdown' | 'storage_error'): MessageFields {
  return { command: Command.Disconnect, id, headers: new Map([[HeaderName.Reason, reason]]) };
}

export function connectionLimitFields(id: string, maxConnections: number): MessageFields {
  const errorMessage = `The broker has ${maxConnections} connections, which is the limit.`;
  return { command: Command.Error, id, errorCode: ErrorCode.ConnectionLimit, errorMessage };
}

/** The answer to a publish whose commit failed: the message may be stored or not. */
export function storageErrorFields(id: string): MessageFields {
  const errorMessage = 'The broker could not store the message.';
  return { command: Command.Error, id, errorCode: ErrorCode.StorageError, errorMessage };
}

/** For people; the log says more. */
export const INTERNAL_FAULT = 'A fault of the broker itself prevented this.';

/** The answer to a command that a fault of our own prevented. */
export function serverErrorFields({
  id,
  queue,
}: {
  readonly id: string;
  readonly queue: string;
}): MessageFields {
  const errorCode = ErrorCode.ServerError;
  return { command: Command.Error, id, queue, errorCode, errorMessage: INTERNAL_FAULT };
}
