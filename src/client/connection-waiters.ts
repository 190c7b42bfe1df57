// The commands that wait for a connection, each for a limited time: in a break between two connections nothing can be sent.

import { orAborted } from './abort.ts';
import type { ClientConnection } from './client-connection.ts';
import { type ClientError, ConnectionError } from './errors.ts';

type Waiter = {
  readonly resolve: (connection: ClientConnection) => void;
  readonly reject: (error: ClientError) => void;
};

export class ConnectionWaiters {
  readonly #waiters = new Set<Waiter>();

  /** @throws ConnectionError (`NOT_CONNECTED`) after `timeoutMs`, the error passed to `reject`, or the signal's reason */
  wait(what: string, timeoutMs: number, signal: AbortSignal | undefined): Promise<ClientConnection> {
    let leave: () => void = () => undefined;
    const connected = new Promise<ClientConnection>((resolve, reject) => {
      const waiter = { resolve, reject };
      this.#waiters.add(waiter);
      const text = `${what} was not sent: there was no connection for ${timeoutMs} ms`;
      const timer = setTimeout(() => reject(new ConnectionError('NOT_CONNECTED', text)), timeoutMs);
      leave = () => {
        clearTimeout(timer);
        this.#waiters.delete(waiter);
      };
    });
    return orAborted(connected, signal, () => undefined).finally(leave);
  }

  resolve(connection: ClientConnection): void {
    for (const waiter of this.#waiters) waiter.resolve(connection);
  }

  reject(error: ClientError): void {
    for (const waiter of this.#waiters) waiter.reject(error);
  }
}
