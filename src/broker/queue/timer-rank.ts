// Which of the timers for the same instant comes first.

export const TimerRank = {
  /** What sends messages: an attempt that is due goes before what ends messages, and before younger messages (DELIVERY-009). */
  Attempt: 0,
  /** What ends messages, and what goes on with the work of an earlier step. */
  Ending: 1,
} as const;
