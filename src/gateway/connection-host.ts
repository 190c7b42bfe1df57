// What the connections of a gateway share with it, and tell it.

import type { Authenticator } from '../auth/authenticator.ts';
import type { UserAdministration } from '../auth/user-administration.ts';
import type { Input } from '../broker/interface/input.ts';
import type { Environment } from '../model/environment.ts';
import type { ErrorCode } from '../model/error-code.ts';
import type { Logger } from '../model/logger.ts';
import type { Algorithm, Compressor } from '../protocol/compression.ts';
import type { ConnectionBudgets } from './buffer-budget.ts';
import type { GatewayOptions } from './gateway-options.ts';
import type { LimitKind } from './limit-events.ts';
import type { EncodedBody } from './outbound-frame.ts';
import type { ReadTurns } from './read-turns.ts';
import type { ServerConnection } from './server-connection.ts';
import type { WriteBuffers } from './write-buffers.ts';

/** What all connections share: one object for all, because a closure for each connection is memory that 1,000 idle ones take. */
export type ConnectionHost = {
  /** Absent: every Connect is accepted, with all rights. */
  readonly authenticator: Authenticator | undefined;
  /** Absent: admin commands are unknown commands. */
  readonly administration: UserAdministration | undefined;
  /** Why commands are refused while the broker shuts down; undefined while it does not. */
  readonly shutdownReason: () => string | undefined;
  /** How long a client may take to close its side before the stream is destroyed. */
  readonly closingGraceMs: () => number;
  readonly options: GatewayOptions;
  readonly environment: Environment;
  readonly logger: Logger;
  readonly compressor: Compressor;
  readonly compress: (algorithm: Algorithm, body: EncodedBody) => Buffer | Promise<Buffer>;
  /** Passes an input to the backend. The owner calls `inputProcessed` when it is processed. */
  readonly submit: (input: Input) => void;
  /** Called when the connection reads nothing more and the backend has nothing to answer: the owner calls `end`. */
  readonly onClosed: (connection: ServerConnection) => void;
  readonly countError: (code: string | undefined, connection: ServerConnection) => void;
  /** `code`: of the Error that the client gets for it. */
  readonly limitReached: (kind: LimitKind, connection: ServerConnection, code?: ErrorCode) => void;
  readonly budgets: ConnectionBudgets;
  readonly writeBuffers: WriteBuffers;
  readonly turns: ReadTurns;
  /** Why a Connect is refused now; undefined if it is accepted. */
  readonly outOfServiceReason: () => string | undefined;
};
