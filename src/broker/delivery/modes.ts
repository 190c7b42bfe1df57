// Which class belongs to which delivery mode.

import type { DeliveryMode } from '../../model/delivery-mode.ts';
import type { Queue } from '../queue/queue.ts';
import { FanOutWithAck } from './fan-out-with-ack.ts';
import { FanOutWithoutAck } from './fan-out-without-ack.ts';
import type { Member } from './members.ts';
import type { DeliveryTools, ModeDelivery } from './mode-delivery.ts';
import { PriorityBased } from './priority-based.ts';
import { RoundRobin } from './round-robin.ts';

type ModeClass = new (queue: Queue, tools: DeliveryTools) => ModeDelivery<Member>;

const modeClasses: Readonly<Record<DeliveryMode, ModeClass>> = {
  0: RoundRobin,
  1: FanOutWithAck,
  2: FanOutWithoutAck,
  3: PriorityBased,
};

/** The delivery of a new queue, in the mode that its options name. */
export function newModeDelivery(queue: Queue, tools: DeliveryTools): ModeDelivery<Member> {
  return new modeClasses[queue.options.mode](queue, tools);
}
