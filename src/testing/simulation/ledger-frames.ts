// Records the broker's frames: which command was answered, and how, and which message was delivered to which subscription.

import { Command } from '../../protocol/command.ts';
import type { Message } from '../../protocol/message.ts';
import type { SentCommand } from './history.ts';
import type { Fact, Ledger } from './ledger.ts';
import { bookDelivery } from './ledger-deliveries.ts';
import { newSubscription, type SeenCommand, type SeenConnection } from './ledger-entries.ts';

/** Books a frame that the broker has written; it arose in the batch `epoch` or a later one. */
export function bookFrame(ledger: Ledger, connection: SeenConnection, frame: Message, epoch: number): Fact {
  if (frame.command === Command.Deliver) return bookDelivery(ledger, connection, frame, epoch);
  if (frame.command === Command.Disconnect) {
    connection.wasToldOfEnd = true;
    return { kind: 'disconnectFrame', connection, frame };
  }
  const candidates = connection.open.filter(({ sent }) => isAnswer(sent, frame));
  const [command] = candidates;
  if (command === undefined) return { kind: 'unasked', connection, frame };
  for (const { sent } of candidates.length > 1 ? candidates : []) {
    const message = ledger.messages.get(sent.published?.number ?? -1);
    if (message !== undefined) message.isAmbiguous = true;
  }
  connection.open = connection.open.filter((other) => other !== command);
  if (isServedAfterAll(ledger, command, frame)) connection.isUnserved = false;
  bookAnswer(ledger, command, frame, epoch);
  return { kind: 'answered', command, frame, epoch };
}

/** Whether this is the answer to a Connect that came when the broker served again. */
function isServedAfterAll(ledger: Ledger, { connection, sent }: SeenCommand, frame: Message): boolean {
  if (sent.command !== Command.Connect || ledger.isBetweenLives || !connection.mayBeServed) return false;
  connection.mayBeServed = false;
  return frame.command === Command.ConnectAck;
}

function bookAnswer(ledger: Ledger, command: SeenCommand, frame: Message, epoch: number): void {
  const { connection, sent } = command;
  const isPositive = frame.command !== Command.Error;
  if (sent.fault !== undefined || (connection.isUnserved && sent.command !== Command.DeleteQueue)) return;
  switch (sent.command) {
    case Command.Connect:
      connection.isConnected ||= isPositive;
      return;
    case Command.Publish:
      return bookPublishAnswer(ledger, sent, isPositive, epoch);
    case Command.Subscribe:
      if (isPositive && !connection.subscriptions.has(sent.queue))
        connection.subscriptions.set(sent.queue, newSubscription(connection, sent, epoch));
      return;
    case Command.Unsubscribe:
      return endSubscription(connection, sent.queue, isPositive);
    case Command.DeleteQueue: {
      const queue = ledger.queue(sent.queue);
      queue.openDeletions -= 1;
      if (!isPositive) return;
      queue.disturbedEpoch = ledger.epoch;
      queue.deleted = { epoch: ledger.epoch, afterEpoch: command.afterEpoch };
    }
  }
}

function bookPublishAnswer(ledger: Ledger, sent: SentCommand, isPositive: boolean, epoch: number): void {
  const message = ledger.messages.get(sent.published?.number ?? -1);
  if (message === undefined) return;
  const state = isPositive ? 'accepted' : 'refused';
  message.state = message.isAmbiguous ? 'unanswered' : state;
  message.acceptedEpoch = epoch;
  message.acceptedByEpoch = ledger.epoch;
  message.acceptedAt = ledger.batchAt(ledger.epoch);
  message.acceptedOrder = ledger.nextAcceptedOrder();
  if (!ledger.isDisturbed(message.queue, epoch)) message.options = ledger.queue(message.queue).info?.options;
}

function endSubscription(connection: SeenConnection, queue: string, isPositive: boolean): void {
  const subscription = connection.subscriptions.get(queue);
  if (!isPositive || subscription === undefined) return;
  subscription.isEnding = true;
  subscription.hasEnded = true;
  connection.subscriptions.delete(queue);
}

/** Answers carry the queue of their command; an Error that has looked at less than that carries none. */
function isAnswer({ command, id, queue }: SentCommand, frame: Message): boolean {
  if (id !== frame.id || (frame.queue !== '' && frame.queue !== queue)) return false;
  if (frame.command === Command.Error) return true;
  const isRequestWithAck = command <= Command.Unsubscribe;
  return frame.command === (isRequestWithAck ? command + 1 : command);
}
