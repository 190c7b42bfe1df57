// Turns to log in with a password. A broker may check one password at a time, which takes it a tenth of a second or more, and refuse a Connect
// while many wait (AUTH-013, AUTH-015). The haste of the runner must fail no broker: of the Connects that carry the password of an attached
// broker, only a few have no answer yet at any time. Areas: AUTH, CONN.

/** Connects without an answer at a time: so few that the last of them is answered soon. */
const maxUnanswered = 4;

/** After so long a turn is over without an answer: a check may wait for none. */
const maxTurnMs = 5000;

export class LoginTurns {
  #unanswered = 0;
  readonly #waiting: (() => void)[] = [];

  /** Waits for a turn, in the order of the calls. The result ends it: to be called when the Connect is answered or its connection closed. */
  async take(): Promise<() => void> {
    if (this.#unanswered < maxUnanswered) this.#unanswered += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return this.#turn();
  }

  #turn(): () => void {
    let isOver = false;
    const end = (): void => {
      clearTimeout(timer);
      if (isOver) return;
      isOver = true;
      const next = this.#waiting.shift();
      if (next === undefined) this.#unanswered -= 1;
      else next();
    };
    const timer = setTimeout(end, maxTurnMs).unref();
    return end;
  }
}
