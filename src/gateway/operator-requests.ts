// Pending requests of the operator to the core. The operator has no connection: each request is a promise, settled by the effect that
// carries its token, or by the end of the broker. Implements DASH-018 on the gateway's side.

import type { AnsweredEffect, RefusedEffect } from '../broker/interface/effect.ts';

export class RequestRefused extends Error {
  override readonly name = 'RequestRefused';
  readonly code: RefusedEffect['code'];

  constructor({ code, text }: RefusedEffect) {
    super(text);
    this.code = code;
  }
}

type Request = {
  readonly resolve: (effect: AnsweredEffect) => void;
  readonly reject: (error: Error) => void;
};

export class OperatorRequests {
  readonly #open = new Map<unknown, Request>();
  #lastToken = 0;

  /** `ask` passes the token to the core. The promise is rejected with RequestRefused when the core refuses. */
  make(ask: (token: number) => void): Promise<AnsweredEffect> {
    this.#lastToken += 1;
    const token = this.#lastToken;
    return new Promise((resolve, reject) => {
      this.#open.set(token, { resolve, reject });
      ask(token);
    });
  }

  settle(effect: AnsweredEffect | RefusedEffect): void {
    const request = this.#open.get(effect.token);
    this.#open.delete(effect.token);
    if (effect.kind === 'answered') request?.resolve(effect);
    else request?.reject(new RequestRefused(effect));
  }

  /** Rejects all pending requests. */
  failAll(error: Error): void {
    for (const request of this.#open.values()) request.reject(error);
    this.#open.clear();
  }
}
