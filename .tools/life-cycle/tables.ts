// The tables of transitions that docs/internals/message-life.md shows.
import { deliveryTransitions } from '../../src/broker/delivery/delivery-state.ts';
import { transitions } from '../../src/broker/queue/message-state.ts';
import type { Drawn } from './drawing.ts';

export const tables: readonly Drawn[] = [
  { name: 'messages', firstEvent: 'publish', transitions },
  { name: 'deliveries', firstEvent: 'send', transitions: deliveryTransitions },
];
