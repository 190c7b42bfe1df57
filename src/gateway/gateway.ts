// All client connections of a broker, and its operator. Admits connections, submits what they send to the backend as inputs, and carries
// out the backend's effects, with one write for each connection and call. Ends the broker in good order. Knows nothing of queues.
// Implements SHUTDOWN-001 to SHUTDOWN-008, DURABLE-018, DURABLE-020 and LIMIT-009 to LIMIT-012.

import type { Duplex } from 'node:stream';
import type { Authenticator } from '../auth/authenticator.ts';
import type { UserAdministration, UserChange } from '../auth/user-administration.ts';
import type { Backend, BackendReceiver, BackendState, BackendStatistics } from '../backend/backend.ts';
import type { AnsweredEffect, Effect } from '../broker/interface/effect.ts';
import { type ConnectionId, type Input, OPERATOR } from '../broker/interface/input.ts';
import type { Environment } from '../model/environment.ts';
import { ErrorCode } from '../model/error-code.ts';
import type { Logger } from '../model/logger.ts';
import type { LargestQueues, QueueFigures, QueueInfo, SubscriberFigures } from '../model/queue-info.ts';
import type { Algorithm, Compressor } from '../protocol/compression.ts';
import { scannableBuffer } from '../protocol/json-scanner.ts';
import type { MessageFields } from '../protocol/message.ts';
import { Admission } from './admission.ts';
import { type Arrival, Arrivals } from './arrivals.ts';
import { BatchCompressor } from './batch-compressor.ts';
import { BufferBudget, type ConnectionBudgets } from './buffer-budget.ts';
import { connectionLimitFields, disconnectFields, serverErrorFields } from './connection-frames.ts';
import type { ConnectionHost } from './connection-host.ts';
import { logAnswered } from './connection-log.ts';
import type { GatewayOptions } from './gateway-options.ts';
import { type LimitCounts, LimitEvents } from './limit-events.ts';
import { Operator, OutOfService } from './operator.ts';
import { OperatorRequests } from './operator-requests.ts';
import type { EncodedBody } from './outbound-frame.ts';
import { ReadTurns } from './read-turns.ts';
import { ServerConnection } from './server-connection.ts';
import { throttledLogger } from './throttled-logger.ts';
import { answerFields, refusalFields } from './translate/answers.ts';
import { DeliverBodies } from './translate/content.ts';
import { QueueListCache } from './translate/queue-list.ts';
import {
  type ClientToken,
  type CommandToken,
  isAdminTurn,
  isReadyAnswer,
  LAST_ANSWER,
} from './translate/tokens.ts';
import { WriteBatch } from './write-batch.ts';
import { WriteBuffers } from './write-buffers.ts';

export type GatewayParts = {
  /** Decides about every Connect; absent: each is accepted, with all rights. */
  readonly authenticator?: Authenticator;
  /** Carries out admin commands; absent: they are unknown commands. */
  readonly administration?: UserAdministration;
  readonly environment: Environment;
  readonly backend: Backend;
  readonly compressor: Compressor;
  readonly logger: Logger;
};

/** The backend's statistics and those of the connections. Counters never fall while the broker runs (METRICS-007). */
export type BrokerStatistics = BackendStatistics & {
  /** Error frames sent, and messages discarded (METRICS-013). */
  readonly errorsCount: number;
  readonly connectionsAcceptedCount: number;
  readonly connectionsRejectedCount: number;
  /** Client connections that are open now. */
  readonly activeConnectionCount: number;
  /** Memory of the received input and the unsent output of all connections. */
  readonly bufferedBytes: number;
  /** How often clients have reached each limit. */
  readonly limitCounts: LimitCounts;
};

export type Readiness =
  | { readonly ready: true }
  /** `reason` is for people. */
  | { readonly ready: false; readonly reason: string };

export class Gateway {
  readonly #options: GatewayOptions;
  readonly #parts: GatewayParts;
  readonly #backend: Backend;
  readonly #limits: LimitEvents;
  readonly #logger: Logger;
  readonly #admission: Admission;
  readonly #compressor: BatchCompressor;
  readonly #budgets: ConnectionBudgets;
  readonly #turns: ReadTurns;
  readonly #arrivals: Arrivals;
  readonly #host: ConnectionHost;
  readonly #queueLists = new QueueListCache();
  readonly #bodies = new DeliverBodies();
  readonly #requests = new OperatorRequests();
  readonly #writeBuffers = new WriteBuffers();
  /** What whoever runs the broker may ask of it. */
  readonly operator: Operator;
  readonly #connections = new Map<ConnectionId, ServerConnection>();
  /** Connections that the effects of this call go to. */
  readonly #touched = new Set<ServerConnection>();
  #nextConnectionId = 1;
  #errorFrameCount = 0;
  #draining: Promise<void> | undefined;
  #closingGraceMs = CLOSING_GRACE_MS;
  /** Called when the last connection has ended. */
  #onEmpty: () => void = () => undefined;

  constructor(options: GatewayOptions, parts: GatewayParts) {
    this.#options = options;
    this.#parts = parts;
    this.#backend = parts.backend;
    const outOfService = () => outOfServiceReason(this.#backend.state);
    this.operator = new Operator(parts.backend, this.#requests, outOfService, parts.logger);
    this.#logger = throttledLogger(parts.logger, parts.environment.clock);
    this.#limits = new LimitEvents(parts.logger, parts.environment.clock);
    this.#admission = new Admission(options, (kind) => this.#limits.reached(kind));
    this.#compressor = new BatchCompressor(parts.compressor);
    const half = options.maxBufferedBytes / 2;
    const newBudget = () => new BufferBudget(half, (task) => parts.environment.scheduler.soon(task));
    this.#budgets = { input: newBudget(), output: newBudget() };
    this.#turns = new ReadTurns({
      ...parts.environment,
      hasRateLimit: options.rateLimit !== undefined,
      commitMs: () => parts.backend.commitMs,
    });
    this.#host = this.#newHost();
    this.#arrivals = new Arrivals(this.#turns, (arrival) => this.#attach(arrival));
    parts.administration?.onChange((change) => this.#applyChange(change));
  }

  /** See {@link Backend.start}. Connections may be attached before; they are refused at their Connect until the backend serves. */
  start(): Promise<void> {
    return this.#backend.start(this.#receiver);
  }

  /**
   * Whether a connection of this address is to be closed at once, for the limit of its address; then it was counted. Asked before anything is made
   * for the connection, because clients that connect again and again do so thousands of times a second.
   */
  rejects(address: string): boolean {
    return this.#admission.rejects({ address, now: this.#parts.environment.clock.now() });
  }

  /** For chunks of streams: payloads in it are scanned without a copy. Undefined on a platform that has none. */
  get readBuffer(): Buffer | undefined {
    return scannableBuffer();
  }

  /**
   * Serves a client on any duplex stream; its connection counts in the rate limit of `address`. Later if too many arrive together. A chunk of
   * the stream is not used any more when the listeners of its `data` event have returned. `releasesWrites`: nobody reads the bytes of a write any
   * more when the stream has called back, as with a socket; then their memory is used again.
   */
  attach(stream: Duplex, address: string, { releasesWrites = false } = {}): void {
    this.#arrivals.add({ stream, address, releasesWrites });
  }

  #attach(arrival: Arrival): void {
    const { environment } = this.#parts;
    const { stream, address } = arrival;
    const attempt = { stream, address, now: environment.clock.now(), servedCount: this.#connections.size };
    switch (this.#draining === undefined ? this.#admission.judge(attempt) : this.#admission.reject()) {
      case 'accept': {
        const connection = this.#newConnection(arrival);
        this.#connections.set(connection.id, connection);
        return connection.serve();
      }
      case 'refuse': {
        const fields = connectionLimitFields(environment.freshId(), this.#options.maxConnections);
        return this.#newConnection(arrival).terminate(fields, 'connectionLimit');
      }
      case 'destroy':
        stream.on('error', () => undefined);
        stream.destroy();
    }
  }

  /**
   * Ends the broker in good order: sends Disconnect to the clients, stops deliveries, accepts acks of messages in flight for
   * `shutdownTimeoutMs`, then closes all connections and the backend. New streams are destroyed from this call on; a running recovery is
   * cancelled. Later calls return the promise of the first.
   */
  drain(): Promise<void> {
    this.#draining ??= this.#drain();
    return this.#draining;
  }

  /** Whether clients are served now, and are to send more of them (HEALTH-011, HEALTH-017). */
  readiness(): Readiness {
    const { state } = this.#backend;
    const reason = state.kind === 'draining' ? SHUTTING_DOWN : outOfServiceReason(state);
    return reason === undefined ? { ready: true } : { ready: false, reason };
  }

  stats(): BrokerStatistics {
    const statistics = this.#backend.statistics();
    return {
      ...statistics,
      errorsCount: this.#errorFrameCount + statistics.discardedCount,
      connectionsAcceptedCount: this.#admission.acceptedCount,
      connectionsRejectedCount: this.#admission.rejectedCount,
      activeConnectionCount: this.#connections.size,
      bufferedBytes: this.#budgets.input.usedBytes + this.#budgets.output.usedBytes,
      limitCounts: this.#limits.counts,
    };
  }

  queueInfo(name: string): QueueInfo | undefined {
    return this.#backend.queueInfo(name);
  }

  /** See {@link Backend.largestQueues}. Answered also while the store is slow: monitoring must not wait for it. */
  largestQueues(limit: number): LargestQueues | undefined {
    return this.#backend.largestQueues(limit);
  }

  /** See {@link Backend.queueFigures}. Answered also while the store is slow. */
  queueFigures(): readonly QueueFigures[] | undefined {
    return this.#backend.queueFigures();
  }

  /** See {@link Backend.subscriberFigures}. Answered also while the store is slow. */
  subscriberFigures(queue: string, limit: number): readonly SubscriberFigures[] | undefined {
    return this.#backend.subscriberFigures(queue, limit);
  }

  readonly #receiver: BackendReceiver = {
    effects: (effects) => this.#carryOutAll(effects),
    processed: (inputs) => this.#processed(inputs),
    stateChanged: (state) => this.#stateChanged(state),
  };

  /** A user has changed: its open connections have its new rights, or end (AUTH-026 to AUTH-029). */
  #applyChange(change: UserChange): void {
    if (change.kind === 'rights') {
      return this.#backend.submit({ kind: 'rightsChanged', principal: change.principal });
    }
    for (const connection of [...this.#connections.values()]) {
      const isMeant = connection.username === change.username && connection.id !== change.exceptConnection;
      if (isMeant) connection.close('userChanged');
    }
  }

  #newHost(): ConnectionHost {
    const { authenticator, administration, environment, compressor } = this.#parts;
    return {
      authenticator,
      administration,
      shutdownReason: () => (this.#backend.state.kind === 'draining' ? SHUTTING_DOWN : undefined),
      closingGraceMs: () => this.#closingGraceMs,
      options: this.#options,
      environment,
      logger: this.#logger,
      compressor,
      compress: (algorithm: Algorithm, body: EncodedBody) => this.#compressor.compress(algorithm, body),
      budgets: this.#budgets,
      writeBuffers: this.#writeBuffers,
      turns: this.#turns,
      submit: (input) => this.#backend.submit(input),
      outOfServiceReason: () => connectRefusal(this.#backend.state),
      onClosed: (connection) => this.#closed(connection),
      countError: (code, { id, address }) => {
        this.#errorFrameCount += 1;
        this.#limits.errorSent(code, { connection: id, address, code });
      },
      limitReached: (kind, { id, address }, code) =>
        this.#limits.reached(kind, { connection: id, address, ...(code === undefined ? {} : { code }) }),
    };
  }

  #newConnection(arrival: Arrival): ServerConnection {
    return new ServerConnection(this.#nextConnectionId++, arrival, this.#host);
  }

  #carryOutAll(effects: readonly Effect[]): void {
    let nextIndex = 0;
    for (const effect of effects) {
      nextIndex += 1;
      const connection = this.#connections.get(effect.connection);
      if (connection === undefined) this.#tellOperator(effect);
      else this.#carryOut(effect, connection, effects[nextIndex]);
    }
    const writes = new WriteBatch(this.#writeBuffers);
    for (const connection of this.#touched) connection.flush(writes);
    writes.end();
    this.#touched.clear();
    this.#compressor.clear();
    this.#queueLists.clear();
    this.#bodies.clear();
  }

  /** `next`: the effect that follows. */
  #carryOut(effect: Effect, connection: ServerConnection, next: Effect | undefined): void {
    this.#touched.add(connection);
    switch (effect.kind) {
      case 'deliver':
        return connection.send(this.#bodies.bodyOf(effect, next, this.#options.limits.maxMessageSizeBytes));
      case 'answered':
        return this.#answer(effect, connection);
      case 'refused':
        if (effect.code === ErrorCode.LimitExceeded)
          this.#host.limitReached('queuesAndSubscriptions', connection, effect.code);
        return connection.send(refusalFields(effect));
      case 'saturated':
        return connection.saturated();
      case 'ahead':
        return connection.holdBack(AHEAD_MS);
      case 'close':
        return connection.close('shutdown');
    }
  }

  #answer(effect: AnsweredEffect, connection: ServerConnection): void {
    const token = effect.token as ClientToken;
    if (token === LAST_ANSWER) connection.lastAnswer();
    else if (isAdminTurn(token)) connection.administer(token);
    else if (isReadyAnswer(token)) connection.send(token.fields);
    else {
      logAnswered(this.#logger, connection.id, token);
      connection.send(this.#answerFields(token, effect.result));
    }
  }

  /** A fault of our own in making an answer is the answer: the command was carried out, and everything else goes on. */
  #answerFields(token: CommandToken, result: AnsweredEffect['result']): MessageFields {
    const { maxMessageSizeBytes } = this.#options.limits;
    try {
      return answerFields(token, result, maxMessageSizeBytes, this.#queueLists);
    } catch (error) {
      this.#logger.error('an answer could not be made', { error: String(error) });
      return serverErrorFields(token);
    }
  }

  #tellOperator(effect: Effect): void {
    const isAnswer = effect.kind === 'answered' || effect.kind === 'refused';
    if (isAnswer && effect.connection === OPERATOR) this.#requests.settle(effect);
  }

  #processed(inputs: readonly Input[]): void {
    for (const input of inputs) {
      if ('connection' in input) this.#connections.get(input.connection)?.inputProcessed(input);
    }
  }

  /** All answers of the connection were sent. */
  #closed(connection: ServerConnection): void {
    this.#connections.delete(connection.id);
    this.#touched.delete(connection);
    connection.end();
    if (this.#connections.size === 0) this.#onEmpty();
  }

  #stateChanged(state: BackendState): void {
    if (state.kind === 'closed') this.#requests.failAll(new OutOfService(ENDED));
    if (state.kind !== 'failed') return;
    const all = [...this.#connections.values()];
    this.#connections.clear();
    const { environment } = this.#parts;
    for (const connection of all)
      connection.terminate(disconnectFields(environment.freshId(), 'storage_error'), 'outOfService');
    this.#requests.failAll(new OutOfService(state.reason));
    this.#onEmpty();
  }

  async #drain(): Promise<void> {
    this.#closingGraceMs = DRAINING_GRACE_MS;
    // Before the first await, so that no client connects meanwhile.
    for (const connection of [...this.#connections.values()]) {
      if (!connection.isConnected) connection.close('shutdown');
    }
    if (this.readiness().ready) await this.#endCommands();
    await this.#closeConnections();
    await this.#backend.close();
  }

  /** Resolves when the backend refuses commands. The clients got Disconnect before: commands that they send now are refused. */
  async #endCommands(): Promise<void> {
    for (const connection of this.#connections.values()) {
      if (!connection.isConnected) continue;
      connection.notify(disconnectFields(this.#parts.environment.freshId(), 'server_shutdown'));
    }
    this.#backend.submit({ kind: 'drain' });
    const answered = this.#requests.make((token) => {
      this.#backend.submit({ kind: 'barrier', connection: OPERATOR, token });
    });
    // A backend that fails meanwhile accepts no commands either.
    await answered.catch(() => undefined);
  }

  /** Resolves when the last connection has ended. */
  async #closeConnections(): Promise<void> {
    const emptied = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    const closeAll = () => {
      const { inFlightCount } = this.#backend.statistics();
      this.#logger.info(TIMEOUT_PASSED, { inFlight: inFlightCount, connections: this.#connections.size });
      for (const connection of [...this.#connections.values()]) connection.close('shutdown');
    };
    const cancel = this.#parts.environment.scheduler.after(this.#options.shutdownTimeoutMs, closeAll);
    if (this.#connections.size > 0) await emptied;
    cancel();
  }
}

/** How long a publisher that is ahead is not read: more than a turn takes where rates are not limited, in which it would be ahead again. */
const AHEAD_MS = 2;

const CLOSING_GRACE_MS = 5_000;
/** The end of the process waits for it (SHUTDOWN-012). */
const DRAINING_GRACE_MS = 1_000;

const SHUTTING_DOWN = 'The broker is shutting down.';
const ENDED = 'The broker has ended.';
const TIMEOUT_PASSED =
  'shutdownTimeout has passed: connections are closed, and what is in flight stays unacknowledged';
const RECOVERING = 'recovering from the store';

/** Why clients are not served; undefined when they are. */
function outOfServiceReason(state: BackendState): string | undefined {
  switch (state.kind) {
    case 'serving':
    case 'draining':
      return undefined;
    case 'recovering':
      return RECOVERING;
    case 'failed':
      return state.reason;
    case 'closed':
      return ENDED;
  }
}

/** The text of the Error that refuses a Connect; undefined when it is accepted. */
function connectRefusal(state: BackendState): string | undefined {
  const reason = outOfServiceReason(state);
  return state.kind === 'failed' ? `The broker cannot store messages now: ${reason}.` : reason;
}
