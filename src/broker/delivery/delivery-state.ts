// The life of one delivery, that is of one message on its way to one subscriber, as a table beside that of messages
// (queue/message-state.ts). In RoundRobin and PriorityBased a message has one delivery at a time; in FanOutWithAck every copy has its own.
// Every change of a delivery's state goes through `deliveryTransition`; what is not in the table throws and changes nothing.
//
// Implements DELIVERY-004, DELIVERY-007, DELIVERY-008 and RETRY-012.

export type DeliveryState =
  /** Sent; its ack is awaited. */
  | 'sent'
  /** An attempt failed; the next one follows after the retry delay. */
  | 'paused'
  /** The next attempt is due, but the connection takes no frames (FanOutWithAck). */
  | 'overdue'
  /** Settled, failed for good, released, or of a queue that was deleted. */
  | 'ended';

export type DeliveryEvent = 'pause' | 'hold' | 'resend' | 'end';

type Row = Readonly<Partial<Record<DeliveryEvent, DeliveryState>>>;

export const deliveryTransitions: Readonly<Record<DeliveryState, Row>> = {
  sent: { pause: 'paused', end: 'ended' },
  paused: { resend: 'sent', hold: 'overdue', end: 'ended' },
  overdue: { resend: 'sent', end: 'ended' },
  ended: {},
};

/** The state that `event` leads to. Throws, for our own fault, where the table has no such transition. */
export function deliveryTransition(state: DeliveryState, event: DeliveryEvent): DeliveryState {
  const next = deliveryTransitions[state][event];
  if (next === undefined) throw new Error(`A delivery that is ${state} cannot ${event}.`);
  return next;
}
