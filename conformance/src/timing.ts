// The deadlines and lengths of silence for all checks, scaled by --timeout-scale, so that one flag adapts all checks to a slow target. The
// tolerance for early timers is not scaled, because an early timer is wrong on any machine. Clause: the timer rule of RETRY (10 ms early,
// 1 s late).

export type Timing = {
  /** Maximum wait for the answer to a command, and for a Pong. */
  readonly answerMs: number;
  /** Maximum wait for an answer that needs the hash of a password, which takes long on purpose and may wait for others. */
  readonly passwordMs: number;
  /** Maximum wait for a delivery that has no reason for a delay. */
  readonly deliveryMs: number;
  /** Maximum wait until the broker closes a connection that it must close. */
  readonly closeMs: number;
  /** Maximum wait for a TCP connection. */
  readonly connectMs: number;
  /** Maximum wait for an HTTP answer. */
  readonly httpMs: number;
  /** How long no frame must come, where only silence can prove that none was sent. Use a Ping instead wherever possible. */
  readonly silenceMs: number;
  /** How late a timer of the broker may fire on a machine that is not overloaded. */
  readonly lateMs: number;
  /** How early a timer may fire. Not scaled. */
  readonly earlyMs: number;
  /** Maximum wait for a broker to start. */
  readonly startMs: number;
  /** Maximum wait for a broker to stop after SIGTERM with nothing in flight. */
  readonly stopMs: number;
  /** Maximum duration of a check. At this deadline a check fails if it waits for the broker; otherwise its outcome is error. */
  readonly checkMs: number;
};

const table: Timing = {
  answerMs: 4000,
  passwordMs: 16_000,
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

/** The table, multiplied by `scale` (greater than 0). */
export function timingFor(scale: number): Timing {
  const scaled = Object.entries(table).map(([name, value]) => [name, Math.round(value * scale)] as const);
  const timing: Timing = { ...table, ...Object.fromEntries(scaled) };
  return {
    ...timing,
    // A scale below 1 must not reduce what the specification allows.
    earlyMs: table.earlyMs,
    lateMs: Math.max(timing.lateMs, table.lateMs),
    startMs: Math.max(timing.startMs, table.startMs),
  };
}
