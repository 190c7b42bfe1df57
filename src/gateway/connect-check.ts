// The check of the credentials of one connection's Connect, which may take a while. Gives one outcome, or none after `cancel`. Implements
// AUTH-012 on the gateway's side.

import type { AuthenticationOutcome, Authenticator, Credentials } from '../auth/authenticator.ts';
import { ErrorCode } from '../model/error-code.ts';
import { HeaderName } from '../protocol/header-name.ts';
import type { Headers } from '../protocol/message.ts';
import { INTERNAL_FAULT } from './connection-frames.ts';

export type CheckOutcome =
  | Extract<AuthenticationOutcome, { readonly kind: 'accepted' }>
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly text: string; readonly closes: boolean };

export type CheckParts = {
  readonly authenticator: Authenticator;
  /** Of the client. */
  readonly address: string;
  /** A fault of our own prevented the check; the Connect is refused with SERVER_ERROR. */
  readonly onFault: (error: unknown) => void;
};

export class ConnectCheck {
  readonly #parts: CheckParts;
  #cancellation: AbortController | undefined;

  constructor(parts: CheckParts) {
    this.#parts = parts;
  }

  /** Whether an outcome is awaited. */
  get isRunning(): boolean {
    return this.#cancellation !== undefined;
  }

  /** Begins a check. Returns its outcome, or undefined when it comes later, by `onLater`. */
  begin(headers: Headers, onLater: (outcome: CheckOutcome) => void): CheckOutcome | undefined {
    const cancellation = new AbortController();
    const outcome = this.#check(headers, cancellation.signal);
    if (!(outcome instanceof Promise)) return outcome;
    this.#cancellation = cancellation;
    const report = (later: CheckOutcome): void => {
      if (cancellation.signal.aborted) return;
      this.#cancellation = undefined;
      onLater(later);
    };
    outcome.then(report, (error: unknown) => report(this.#failed(error)));
    return undefined;
  }

  /** The connection has ended: the outcome is not wanted any more. */
  cancel(): void {
    this.#cancellation?.abort();
    this.#cancellation = undefined;
  }

  #check(headers: Headers, cancelled: AbortSignal): CheckOutcome | Promise<CheckOutcome> {
    const { authenticator, address } = this.#parts;
    try {
      return authenticator.check(credentialsOf(headers), address, cancelled);
    } catch (error) {
      return this.#failed(error);
    }
  }

  #failed(error: unknown): CheckOutcome {
    this.#parts.onFault(error);
    return { kind: 'refused', code: ErrorCode.ServerError, text: INTERNAL_FAULT, closes: true };
  }
}

function credentialsOf(headers: Headers): Credentials {
  const token = headers.get(HeaderName.AuthToken);
  const username = headers.get(HeaderName.AuthUsername);
  const password = headers.get(HeaderName.AuthPassword);
  return {
    ...(token === undefined ? {} : { token }),
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
  };
}
