// The naive broker: the rules of the specification in the simplest form, on lists, with everything computed anew at every request. The real
// core is compared with it. Imports only types from the core, and need not be fast.

import type { Effect } from '../broker/interface/effect.ts';
import type { ConnectionId, Input } from '../broker/interface/input.ts';
import type { BrokerSettings } from '../broker/interface/settings.ts';
import type { BrokerStats } from '../broker/interface/stats.ts';
import type { StoreRecord } from '../broker/interface/store-record.ts';
import type { Time } from '../broker/interface/time.ts';
import { type Principal, QueueOperation } from '../model/access.ts';
import type { LargestQueues, QueueFigures, QueueInfo, SubscriberFigures } from '../model/queue-info.ts';
import {
  acknowledge,
  comingEvents,
  comingOffers,
  deliveriesInFlight,
  giveBack,
  negativeAcknowledge,
} from './naive/attempts.ts';
import {
  answer,
  endSubscriptions,
  handleCreateQueue,
  handleDeleteQueue,
  handleListQueues,
  handlePublish,
  handlePurgeQueue,
  handleQueueInfo,
  handleSubscribe,
  handleUnsubscribe,
  refuse,
  refuseBlocked,
} from './naive/commands.ts';
import { admitDeadLetters } from './naive/dead-letters.ts';
import { offerEverything } from './naive/offering.ts';
import { handleOperator } from './naive/operator.ts';
import { lacksRight, may } from './naive/rights.ts';
import {
  connectionOf,
  figuresOf,
  findQueue,
  infoOf,
  isOverdue,
  type NaiveConnection,
  type NaiveQueue,
  type NaiveState,
  newState,
  queuedBytes,
  subscriberFiguresOf,
} from './naive/state.ts';

export class NaiveBroker {
  readonly #state: NaiveState;

  constructor(settings: BrokerSettings) {
    this.#state = newState(settings);
  }

  step(input: Input, time: Time): void {
    const state = this.#state;
    state.now = time.now;
    state.wallNow = time.wallNow;
    runWhatIsDue(state);
    offerEverything(state);
    if (state.draining && isRefusedWhileDraining(input)) refuse(state, input, 'SHUTTING_DOWN');
    else if (lacksRight(state, input)) refuse(state, input, 'NOT_AUTHORIZED');
    else handle(state, input);
    admitDeadLetters(state);
    runWhatIsDue(state);
    offerEverything(state);
    closeIdleConnections(state);
  }

  /** The model writes no records: the audit checks them. */
  takeOutputs(): { readonly records: readonly StoreRecord[]; readonly effects: readonly Effect[] } {
    const effects = this.#state.effects;
    this.#state.effects = [];
    return { records: [], effects };
  }

  nextDeadline(): number | undefined {
    const instants = [...comingEvents(this.#state).map((event) => event.at), ...comingOffers(this.#state)];
    return instants.length === 0 ? undefined : Math.min(...instants);
  }

  queueInfo(name: string): QueueInfo | undefined {
    return infoOf(this.#state, name);
  }

  largestQueues(limit: number): LargestQueues {
    const infos = this.queueNames().flatMap((name) => this.queueInfo(name) ?? []);
    const queues = infos.toSorted((a, b) => b.messageCount - a.messageCount).slice(0, limit);
    return { queues, waitingCount: infos.reduce((sum, { messageCount }) => sum + messageCount, 0) };
  }

  queueFigures(): readonly QueueFigures[] {
    return this.#state.queues.flatMap((queue) => figuresOf(this.#state, queue) ?? []);
  }

  subscriberFigures(name: string, limit: number): readonly SubscriberFigures[] {
    const queue = findQueue(this.#state, name);
    return queue === undefined ? [] : subscriberFiguresOf(this.#state, queue).slice(0, limit);
  }

  queueNames(): readonly string[] {
    return this.#state.queues.map((queue) => queue.name);
  }

  stats(): BrokerStats {
    const inFlightCount = deliveriesInFlight(this.#state).length;
    return {
      ...this.#state.counters,
      inFlightCount,
      queuedBytes: queuedBytes(this.#state),
      structureBytes: 0,
    };
  }
}

type CommandInput = Extract<Input, { readonly token: unknown }>;

function isRefusedWhileDraining(input: Input): input is CommandInput {
  return 'token' in input && input.kind !== 'barrier';
}

/** When it is called late, it first handles all ack timeouts that are due, then the other deadlines. */
function runWhatIsDue(state: NaiveState): void {
  for (;;) {
    const due = comingEvents(state).filter((event) => event.at <= state.now);
    const first = due.find((event) => event.rank === 0) ?? due[0];
    if (first === undefined) return;
    first.run();
    admitDeadLetters(state);
  }
}

function handle(state: NaiveState, input: Input): void {
  if ('token' in input) handleCommand(state, input);
  else handleEvent(state, input);
}

function handleCommand(state: NaiveState, input: CommandInput): void {
  switch (input.kind) {
    case 'publish':
      handlePublish(state, input);
      break;
    case 'subscribe':
      handleSubscribe(state, input);
      break;
    case 'unsubscribe':
      handleUnsubscribe(state, input);
      break;
    case 'createQueue':
      handleCreateQueue(state, input);
      break;
    case 'deleteQueue':
      handleDeleteQueue(state, input);
      break;
    case 'purgeQueue':
      handlePurgeQueue(state, input);
      break;
    case 'listMessages':
    case 'readMessage':
    case 'removeMessage':
    case 'requeueMessage':
      handleOperator(state, input);
      break;
    case 'queueInfo':
      handleQueueInfo(state, input);
      break;
    case 'listQueues':
      handleListQueues(state, input);
      break;
    case 'barrier':
      answer(state, input);
      break;
  }
}

function handleEvent(state: NaiveState, input: Exclude<Input, CommandInput>): void {
  switch (input.kind) {
    case 'connected':
      state.connections.push({
        id: input.connection,
        writable: true,
        closeAsked: false,
        principal: input.principal,
      });
      break;
    case 'rightsChanged':
      handleRightsChanged(state, input.principal);
      break;
    case 'disconnected':
      handleDisconnected(state, input.connection);
      break;
    case 'writable':
      handleWritable(state, input);
      break;
    case 'acknowledge':
      acknowledge(state, input);
      break;
    case 'negativeAcknowledge':
      negativeAcknowledge(state, input);
      break;
    case 'drain':
      handleDrain(state);
      break;
    case 'tick':
      break;
  }
}

/** What waits for the connection in several queues comes in the order of its subscriptions. */
function handleWritable(state: NaiveState, input: Extract<Input, { kind: 'writable' }>): void {
  const connection = connectionOf(state, input.connection);
  connection.writable = input.writable;
  for (const queue of subscribedQueues(state, connection)) state.changed.add(queue);
}

/** In the order of its subscriptions. */
function subscribedQueues(state: NaiveState, connection: NaiveConnection): NaiveQueue[] {
  const names = state.subscriptions
    .filter((one) => one.connection === connection)
    .map((one) => one.queueName);
  return names.flatMap((name) => state.queues.filter((queue) => queue.name === name));
}

/** What others get from several of its queues comes in the order of its subscriptions. */
function handleDisconnected(state: NaiveState, id: ConnectionId): void {
  const connection = connectionOf(state, id);
  for (const queue of subscribedQueues(state, connection)) state.changed.add(queue);
  endSubscriptions(
    state,
    (one) => one.connection === connection,
    (copy) => copy.state === 'unsent',
  );
  giveBack(state, (one) => one.connection === connection);
  for (const queue of state.queues) {
    for (const blocked of queue.blocked) {
      blocked.askers = blocked.askers.filter((asker) => asker.connection !== connection);
    }
    queue.blocked = queue.blocked.filter((blocked) => blocked.askers.length > 0);
  }
  state.connections = state.connections.filter((one) => one !== connection);
}

function handleRightsChanged(state: NaiveState, principal: Principal): void {
  for (const connection of state.connections) {
    if (connection.principal?.username === principal.username) connection.principal = principal;
  }
  const lost = state.subscriptions.filter(
    ({ connection, queueName }) =>
      connection.principal?.username === principal.username &&
      !may(connection.principal, QueueOperation.Subscribe, queueName),
  );
  endSubscriptions(
    state,
    (one) => lost.includes(one),
    (copy) => copy.state === 'unsent' || isOverdue(copy),
  );
  giveBack(state, (one) => lost.includes(one));
}

function handleDrain(state: NaiveState): void {
  state.draining = true;
  for (const queue of state.queues) {
    refuseBlocked(state, queue, 'SHUTTING_DOWN');
  }
}

function closeIdleConnections(state: NaiveState): void {
  if (!state.draining) return;
  const busy = deliveriesInFlight(state).map(({ copy }) => copy.subscription.connection);
  for (const connection of state.connections) {
    if (connection.closeAsked || busy.includes(connection)) continue;
    connection.closeAsked = true;
    state.effects.push({ kind: 'close', connection: connection.id });
  }
}
