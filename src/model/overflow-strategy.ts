// What happens to a publish to a full queue, with the numbers on the wire and in stores.

export const OverflowStrategy = {
  DropOldest: 0,
  DropNewest: 1,
  BlockPublisher: 2,
  RedirectToDlq: 3,
} as const;
export type OverflowStrategy = (typeof OverflowStrategy)[keyof typeof OverflowStrategy];
export type OverflowStrategyName = keyof typeof OverflowStrategy;
