// The frames that the engine sends on its own account: no command asked for them.

import type { ConnectionId } from '../broker/interface/input.ts';
import { ErrorCode } from '../model/error-code.ts';
import { Command } from '../protocol/command.ts';
import { HeaderName } from '../protocol/header-name.ts';
import type { Headers, MessageFields } from '../protocol/message.ts';

/** What this broker can beyond the plain protocol, as a client reads it in ConnectAck. */
const CAPABILITIES = 'nack,maxInFlight';

export function connectAckHeaders(connection: ConnectionId, serverVersion: string): Headers {
  return new Map([
    [HeaderName.ServerVersion, serverVersion],
    [HeaderName.ConnectionId, String(connection)],
    [HeaderName.Capabilities, CAPABILITIES],
  ]);
}

/** The broker ends the connection, for a reason that the protocol names. */
export function disconnectFields(id: string, reason: 'server_shutdown' | 'storage_error'): MessageFields {
  return { command: Command.Disconnect, id, headers: new Map([[HeaderName.Reason, reason]]) };
}

export function connectionLimitFields(id: string, maxConnections: number): MessageFields {
  const errorMessage = `The broker has ${maxConnections} connections, which is the limit.`;
  return { command: Command.Error, id, errorCode: ErrorCode.ConnectionLimit, errorMessage };
}

/** The answer to a publish that a failed commit has taken along: it may be stored or not. */
export function storageErrorFields(id: string): MessageFields {
  const errorMessage = 'The broker could not store the message.';
  return { command: Command.Error, id, errorCode: ErrorCode.StorageError, errorMessage };
}
