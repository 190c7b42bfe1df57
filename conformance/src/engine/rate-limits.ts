// The connection rate that a run keeps to. A target file may declare it. If it does not, and the runner does not configure the broker, the
// run starts without a limit; once the broker refuses something for its rate, the run keeps to the defaults of the protocol, and repeats the
// checks that were running: what they saw was the fault of the runner. Areas: LIMIT (connections by address, messages by client).
import type { CheckResult } from '../result.ts';
import { honoursSetting } from '../target/honours.ts';
import type { Target } from '../target/target-file.ts';
import type { Pacer } from './pacer.ts';
import { noPacer, windowPacer } from './pacer.ts';

/** The defaults of the protocol (LIMIT-019). */
const defaults = { maxCount: 20, windowMs: 60_000 };

export class RateLimits {
  readonly #declared: Target;
  /** Until the defaults are assumed; undefined if they never are. */
  readonly #unlimited: Pacer | undefined;
  readonly #notice: (text: string) => void;
  #pacer: Pacer;
  #isAssumed = false;

  /** `notice`: called with a sentence when the limits are assumed. */
  constructor(target: Target, notice: (text: string) => void = () => {}) {
    const { limits, lifecycle } = target;
    this.#declared = target;
    this.#notice = notice;
    if (lifecycle.kind !== 'spawn' && limits?.maxConnectionsPerIpPerWindow !== undefined) {
      const { maxConnectionsPerIpPerWindow: maxCount, connectionWindowMs = defaults.windowMs } = limits;
      this.#pacer = windowPacer(maxCount, connectionWindowMs);
    } else if (honoursSetting(lifecycle, 'rateLimit')) {
      this.#pacer = noPacer;
    } else {
      this.#unlimited = this.#pacer = { turn: () => this.#unlimitedTurn() };
    }
  }

  /** Limits the connections that are opened from now on. */
  get pacer(): Pacer {
    return this.#pacer;
  }

  /** The target with the limits that the run keeps to. */
  get target(): Target {
    if (!this.#isAssumed) return this.#declared;
    return {
      ...this.#declared,
      limits: {
        ...this.#declared.limits,
        maxConnectionsPerIpPerWindow: defaults.maxCount,
        connectionWindowMs: this.#windowMs,
      },
    };
  }

  /** What the report says about limits that were assumed: one sentence, or none. */
  get notes(): readonly string[] {
    return this.#isAssumed ? [this.#assumedText] : [];
  }

  get #assumedText(): string {
    const seconds = this.#windowMs / 1000;
    return `the broker refused what the runner sent for its rate, and the target file declares no rate limits: the run keeps to ${defaults.maxCount} connections in ${seconds} s, the defaults of the protocol. Declare limits.maxConnectionsPerIpPerWindow and limits.connectionWindowMs as the broker has them, or switch its rate limits off: then a run takes seconds`;
  }

  /**
   * Whether the result says nothing about the broker because the run had kept to no limits. `pacer`: that of the check when it began.
   * `refuses`: asks the broker whether it refuses connections now.
   */
  async discards(result: CheckResult, pacer: Pacer, refuses: () => Promise<boolean>): Promise<boolean> {
    if (pacer !== this.#unlimited) return false;
    const isEndedSilently = endedSilently(result);
    if (result.outcome === 'pass' && !isEndedSilently) return false;
    if (!this.#isAssumed) {
      const isRefused = wasRateLimited(result) || (isEndedSilently && (await refuses()));
      if (!isRefused) return false;
      this.#assume();
    }
    return true;
  }

  get #windowMs(): number {
    return this.#declared.limits?.connectionWindowMs ?? defaults.windowMs;
  }

  #assume(): void {
    // Several checks may have waited for the broker's answer.
    if (this.#isAssumed) return;
    this.#isAssumed = true;
    this.#pacer = windowPacer(defaults.maxCount, this.#windowMs);
    this.#pacer.refused?.();
    this.#notice(this.#assumedText);
  }

  /** A check that began without limits opens no connection after they are assumed: it is repeated. */
  async #unlimitedTurn(): Promise<void> {
    if (this.#isAssumed) throw new Error('the run keeps to rate limits since this check began');
  }
}

/** Whether the broker closed, or did not accept, a connection on which it had sent nothing. */
function endedSilently({ trace, outcome }: CheckResult): boolean {
  if (outcome === 'could not run') return false;
  const answered = new Set(
    trace
      .filter(({ kind }) => kind === 'received' || kind === 'undecodable')
      .map((event) => event.connection),
  );
  const isSilentEnd = trace.some(
    ({ kind, byRunner, connection }) =>
      kind === 'closed' && byRunner === undefined && !answered.has(connection),
  );
  return isSilentEnd || (outcome !== 'pass' && !trace.some(({ kind }) => kind === 'opened'));
}

function wasRateLimited({ trace }: CheckResult): boolean {
  return trace.some(({ kind, text }) => kind === 'received' && text.includes('RATE_LIMITED'));
}
