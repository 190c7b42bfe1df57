// The delivery modes, with their numbers on the wire and in stores.

export const DeliveryMode = {
  RoundRobin: 0,
  FanOutWithAck: 1,
  FanOutWithoutAck: 2,
  PriorityBased: 3,
} as const;
export type DeliveryMode = (typeof DeliveryMode)[keyof typeof DeliveryMode];
export type DeliveryModeName = keyof typeof DeliveryMode;
