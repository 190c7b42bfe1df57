// The one table of waits. Every deadline and every window of silence in a check comes from here, scaled by --timeout-scale,
// so that a slow target needs one number changed and no check. Late is judged with these, early never: what comes before
// its time is wrong on any machine. Clause: the timer rule of RETRY (10 ms early, 1 s late).

export type Timing = {
  /** Longest wait for the answer to a command, and for a Pong. */
  readonly answerMs: number;
  /** Longest wait for a delivery that nothing delays. */
  readonly deliveryMs: number;
  /** Longest wait for the broker to close a connection that it has to close. */
  readonly closeMs: number;
  /** Longest wait for TCP to connect. */
  readonly connectMs: number;
  /** Longest wait for an HTTP answer. */
  readonly httpMs: number;
  /** How long nothing must come where only silence can prove it. Use a sentinel wherever one can be had. */
  readonly silenceMs: number;
  /** How late a timer of the broker may fire on a machine that is not starved. */
  readonly lateMs: number;
  /** How early it may fire. Not scaled. */
  readonly earlyMs: number;
  /** Longest wait for a broker to start, and to stop after SIGTERM with nothing in flight. */
  readonly startMs: number;
  readonly stopMs: number;
  /** A check that has not ended by then fails if it waits for the broker, and is an error of the runner if it does not. */
  readonly checkMs: number;
};

const table: Timing = {
  answerMs: 4000,
  deliveryMs: 4000,
  closeMs: 4000,
  connectMs: 4000,
  httpMs: 4000,
  silenceMs: 600,
  lateMs: 1000,
  earlyMs: 10,
  startMs: 15_000,
  stopMs: 10_000,
  checkMs: 60_000,
};

/** The table times `scale` (greater than 0). */
export function timingFor(scale: number): Timing {
  const scaled = Object.entries(table).map(([name, value]) => [name, Math.round(value * scale)] as const);
  const timing: Timing = { ...table, ...Object.fromEntries(scaled) };
  return {
    ...timing,
    // What the specification allows is not made less by a runner in a hurry.
    earlyMs: table.earlyMs,
    lateMs: Math.max(timing.lateMs, table.lateMs),
    startMs: Math.max(timing.startMs, table.startMs),
  };
}
