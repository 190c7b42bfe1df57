// The commands of a random scenario as data. Connections, queues and deliveries are named by number, and a command whose object does not
// exist is skipped. So a scenario can still be played after some of its commands are removed. Data and its text.
import { countText } from '../count-text.ts';
import type { DeliveryMode } from '../history/operation.ts';

export const overflowStrategies = ['DropOldest', 'DropNewest', 'BlockPublisher', 'RedirectToDlq'] as const;
export type OverflowStrategy = (typeof overflowStrategies)[number];

export type PlannedQueue = {
  readonly mode: DeliveryMode;
  readonly maxQueueSize: number;
  readonly overflowStrategy: OverflowStrategy;
  readonly maxRetryAttempts: number;
  readonly deadLetters: 'none' | 'generated name' | 'own name';
};

export const failureReasons = ['HandlerException', 'DeserializationError'] as const;
export type FailureReason = (typeof failureReasons)[number];

export type Priority = 'Low' | 'Normal' | 'High' | 'Critical';

/** `by`: the client, from 0. `queue`: an index of the planned queues. `pick`: one of several, modulo their number. */
export type ModelCommand =
  | {
      readonly kind: 'publish';
      readonly by: number;
      readonly queue: number;
      readonly priority?: Priority;
      readonly payload: string;
      /** Uses the id of an earlier message of the queue. */
      readonly repeat?: number;
    }
  | { readonly kind: 'subscribe'; readonly by: number; readonly queue: number }
  /** Subscribes to the dead letter queue of the queue. */
  | { readonly kind: 'subscribeToDeadLetters'; readonly by: number; readonly queue: number }
  | { readonly kind: 'unsubscribe'; readonly by: number; readonly queue: number }
  /** Acknowledges a delivery that the connection holds. */
  | { readonly kind: 'ack'; readonly by: number; readonly pick: number; readonly form: AckForm }
  /** Acknowledges an acknowledged delivery again. */
  | { readonly kind: 'ackAgain'; readonly by: number; readonly pick: number }
  /** Acknowledges a delivery that another connection holds. */
  | { readonly kind: 'ackForeign'; readonly by: number; readonly pick: number }
  | {
      readonly kind: 'nack';
      readonly by: number;
      readonly pick: number;
      readonly reason: FailureReason;
    }
  | { readonly kind: 'create'; readonly by: number; readonly queue: number; readonly as: CreateAs }
  | { readonly kind: 'delete'; readonly by: number; readonly queue: number }
  | { readonly kind: 'info'; readonly by: number; readonly queue: number }
  | { readonly kind: 'list'; readonly by: number }
  /** Resets the connection or sends Disconnect; a new connection replaces it. */
  | { readonly kind: 'leave'; readonly by: number; readonly how: 'reset' | 'Disconnect' };

export type AckForm = 'id' | 'id and queue' | 'header messageId';
export type CreateAs = 'planned' | 'other options' | 'no options';

export type Scenario = {
  readonly queues: readonly PlannedQueue[];
  readonly connectionCount: number;
  readonly commands: readonly ModelCommand[];
};

/** `B publishes to q0, High, {"n":1}` */
export function commandText(command: ModelCommand): string {
  const who = String.fromCharCode(65 + command.by);
  switch (command.kind) {
    case 'publish': {
      const priority = command.priority === undefined ? '' : `, ${command.priority}`;
      const repeat = command.repeat === undefined ? '' : ` with the id of message ${command.repeat}`;
      return `${who} publishes ${command.payload || 'nothing'} to q${command.queue}${priority}${repeat}`;
    }
    case 'subscribe':
    case 'unsubscribe':
      return `${who} ${command.kind}s ${command.kind === 'subscribe' ? 'to' : 'from'} q${command.queue}`;
    case 'subscribeToDeadLetters':
      return `${who} subscribes to the dead letters of q${command.queue}`;
    case 'ack':
      return `${who} acknowledges delivery ${command.pick} of the deliveries it holds, by ${command.form}`;
    case 'ackAgain':
      return `${who} acknowledges delivery ${command.pick} again`;
    case 'ackForeign':
      return `${who} acknowledges delivery ${command.pick} of another connection`;
    case 'nack':
      return `${who} refuses delivery ${command.pick} of the deliveries it holds: ${command.reason}`;
    case 'create':
      return `${who} creates q${command.queue}${command.as === 'planned' ? '' : ` with ${command.as}`}`;
    case 'delete':
    case 'info':
      return `${who} ${command.kind === 'delete' ? 'deletes' : 'asks for the info of'} q${command.queue}`;
    case 'list':
      return `${who} lists the queues`;
    case 'leave':
      return `${who} ends its connection (${command.how}) and connects again`;
  }
}

/** The scenario as text, one line for each queue and command. */
export function scenarioLines({ queues, commands }: Scenario): readonly string[] {
  return [
    ...queues.map((queue, index) => `q${index}: ${plannedText(queue)}`),
    ...commands.map((command, index) => `${index + 1}. ${commandText(command)}`),
  ];
}

function plannedText(queue: PlannedQueue): string {
  const letters = queue.deadLetters === 'none' ? '' : `, dead letters (${queue.deadLetters})`;
  const size = `at most ${queue.maxQueueSize}, ${queue.overflowStrategy}`;
  return `${queue.mode}, ${size}, ${countText(queue.maxRetryAttempts, 'attempt')}${letters}`;
}
