// Which rules belong to which delivery mode.

import type { DeliveryMode } from '../../model/delivery-mode.ts';
import type { DeliveryModeRules } from './delivery-mode.ts';
import { fanOutWithAck } from './fan-out-with-ack.ts';
import { fanOutWithoutAck } from './fan-out-without-ack.ts';
import { priorityBased } from './priority-based.ts';
import { roundRobin } from './round-robin.ts';

export const deliveryModeRules: Readonly<Record<DeliveryMode, DeliveryModeRules>> = {
  0: roundRobin,
  1: fanOutWithAck,
  2: fanOutWithoutAck,
  3: priorityBased,
};
