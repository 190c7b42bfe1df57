// Records a Deliver frame with its publish and its subscription, if they exist.

import { HeaderName } from '../../protocol/header-name.ts';
import type { Message } from '../../protocol/message.ts';
import type { Fact, Ledger } from './ledger.ts';
import { bookEarlyAcks } from './ledger-acks.ts';
import type { SeenConnection, SeenLetter, SeenMessage } from './ledger-entries.ts';

export function bookDelivery(
  ledger: Ledger,
  connection: SeenConnection,
  frame: Message,
  epoch: number,
): Fact {
  if (connection.isUnserved) return { kind: 'deliveredUnserved', connection, frame };
  ledger.deliverFrameCount += 1;
  const message = ledger.messages.get(Number(frame.headers.get('number') ?? -1));
  const subscription = connection.subscriptions.get(frame.queue);
  const misdelivered = (why: string): Fact => ({ kind: 'misdelivered', connection, frame, why });
  if (message === undefined) return misdelivered('nobody published it');
  if (subscription === undefined) return misdelivered('the connection has no subscription to the queue');
  const isDeadLetter = frame.headers.has(HeaderName.DeadLetterReason);
  const key = `${message.published.number} ${frame.queue} ${isDeadLetter}`;
  let copy = connection.copies.get(key);
  if (copy === undefined || copy.subscription !== subscription) {
    copy = {
      message,
      subscription,
      queue: frame.queue,
      isDeadLetter,
      sends: [],
      possibleAcks: [],
      settledEpoch: undefined,
      wasRefusedForGood: false,
    };
    connection.copies.set(key, copy);
    subscription.copies.add(copy);
    (isDeadLetter ? letterOf(message, frame).copies : message.copies).push(copy);
  }
  if (isDeadLetter) letterOf(message, frame).sendCount += 1;
  else message.sendCount += 1;
  const attempt = Number(frame.headers.get(HeaderName.DeliveryAttempts) ?? 1);
  const send = {
    epoch,
    byEpoch: ledger.epoch,
    at: ledger.batchAt(epoch),
    byAt: ledger.batchAt(ledger.epoch),
    attempt,
  };
  copy.sends.push(send);
  bookEarlyAcks(copy, epoch);
  return { kind: 'delivered', copy, send, frame };
}

function letterOf(message: SeenMessage, { queue, headers }: Message): SeenLetter {
  message.letter ??= {
    queue,
    reason: headers.get(HeaderName.DeadLetterReason) ?? '',
    source: headers.get(HeaderName.DeadLetterSource) ?? '',
    attempts: Number(headers.get(HeaderName.DeadLetterAttempts)),
    wallAt: Date.parse(headers.get(HeaderName.DeadLetteredAt) ?? ''),
    copies: [],
    sendCount: 0,
  };
  return message.letter;
}
