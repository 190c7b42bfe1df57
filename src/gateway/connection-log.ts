// What the log says about one client connection: that it was opened, who it belongs to, which queues it subscribes to, and why and when it ended. Every
// line has the field `connection`. Holds no header but the version of the client's program, and no credentials (AUTH-054).

import type { ConnectionId } from '../broker/interface/input.ts';
import type { Clock } from '../model/environment.ts';
import { ErrorCode } from '../model/error-code.ts';
import type { LogFields, Logger } from '../model/logger.ts';
import { Command } from '../protocol/command.ts';
import type { CloseCause } from '../session/server-session.ts';
import type { TimeoutKind } from './connection-timeouts.ts';
import { isLimitCode } from './limit-events.ts';
import type { CommandToken } from './translate/tokens.ts';

/** Why a connection ended, in the words of the log. */
const endReasons = {
  disconnect: 'the client disconnected',
  fault: 'the client violated the protocol',
  refused: 'the connect was refused',
  'failed-connects': 'too many refused connects',
  inputEnd: 'the client closed the stream',
  lost: 'the stream was lost',
  handshakeTimeout: 'the client did not connect in time',
  frameTimeout: 'the client did not complete a frame in time',
  idleTimeout: 'the client sent nothing for too long',
  shutdown: 'the broker shuts down',
  outOfService: 'the broker cannot serve',
  connectionLimit: 'the broker has as many connections as it may',
  userChanged: 'the user was deleted or has a new password',
  internalFault: 'a fault of the broker itself',
} as const satisfies Readonly<Record<CloseCause | TimeoutKind, string>> & Readonly<Record<string, string>>;

export type EndReason = keyof typeof endReasons;

/** A client chooses it: a longer one would only lengthen the line. */
const MAX_PROGRAM_LENGTH = 100;

const sentences: ReadonlyMap<number, string> = new Map([
  [Command.Subscribe, 'subscribed'],
  [Command.Unsubscribe, 'unsubscribed'],
]);

export class ConnectionLog {
  readonly #connection: ConnectionId;
  readonly #address: string;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #openedAt: number;
  #program: string | undefined;
  #user: string | undefined;
  #end:
    | { readonly reason: EndReason; readonly code: string | undefined; readonly error: string | undefined }
    | undefined;
  #lastCode: string | undefined;
  #refusalCode: string | undefined;
  #receivedBytes = 0;
  #sentFrameCount = 0;
  #isClosed = false;

  /** `logger` lets no client flood its levels above debug. */
  constructor(
    { connection, address }: { readonly connection: ConnectionId; readonly address: string },
    { logger, clock }: { readonly logger: Logger; readonly clock: Clock },
  ) {
    this.#connection = connection;
    this.#address = address;
    this.#logger = logger;
    this.#clock = clock;
    this.#openedAt = clock.now();
    logger.debug('connection opened', { connection, address });
  }

  /** `program`: what the client says about itself in its Connect. */
  connectArrived(program: string | undefined): void {
    this.#program = program?.slice(0, MAX_PROGRAM_LENGTH);
  }

  /** The Connect was accepted. */
  connected(user: string | undefined): void {
    this.#user = user;
    this.#logger.debug('client connected', { connection: this.#connection, user, program: this.#program });
  }

  received(bytes: number): void {
    this.#receivedBytes += bytes;
  }

  /** `code`: of an Error. */
  sent(code: string | undefined): void {
    this.#sentFrameCount += 1;
    if (code !== undefined) this.#lastCode = code;
  }

  /** The client's Connect was refused. */
  connectRefused(code: string): void {
    this.#refusalCode = code;
    if (isToldElsewhere(code)) return;
    this.#logger.info('a connect was refused', {
      connection: this.#connection,
      address: this.#address,
      code,
    });
  }

  /** The first reason counts: what follows is its consequence. `error`: of the stream. */
  ending(reason: EndReason, error?: string): void {
    if (this.#end !== undefined) return;
    if (reason !== 'fault') {
      this.#end = { reason, code: undefined, error };
      return;
    }
    const code = this.#lastCode;
    const isRefusal = code === this.#refusalCode;
    this.#end = { reason: isRefusal ? 'refused' : reason, code, error };
    if (isRefusal || code === undefined || isToldElsewhere(code)) return;
    const fields: LogFields = {
      connection: this.#connection,
      address: this.#address,
      user: this.#user,
      code,
    };
    this.#logger.info('a connection ends, because its client violated the protocol', fields);
  }

  /** The stream is closed. `receivedFrameCount`: whole frames. */
  closed(receivedFrameCount: number): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { reason = 'lost', code, error } = this.#end ?? {};
    this.#logger.debug('connection closed', {
      connection: this.#connection,
      address: this.#address,
      user: this.#user,
      reason: endReasons[reason],
      code,
      error,
      durationMs: Math.round(this.#clock.now() - this.#openedAt),
      receivedBytes: this.#receivedBytes,
      receivedFrames: receivedFrameCount,
      sentFrames: this.#sentFrameCount,
    });
  }

  /** A fault of our own that one command got an Error for. */
  commandFailed(error: unknown): void {
    this.#logger.error('a command failed', { connection: this.#connection, error: messageOf(error) });
  }

  /** A fault of our own that ends this connection, and no other. */
  abandoned(error: unknown): void {
    this.ending('internalFault');
    this.#logger.error('connection abandoned', { connection: this.#connection, error: messageOf(error) });
  }
}

/** The broker has carried out a command of a connection. */
export function logAnswered(
  logger: Logger,
  connection: ConnectionId,
  { command, queue }: Pick<CommandToken, 'command' | 'queue'>,
): void {
  const sentence = sentences.get(command);
  if (sentence !== undefined) logger.debug(sentence, { connection, queue });
}

/** Limits and the broker's own faults have lines of their own. */
function isToldElsewhere(code: string): boolean {
  return isLimitCode(code) || code === ErrorCode.ServerError || code === ErrorCode.StorageError;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
