// Closes the connections that are refused: a few at once, and of many the others a little later. A client that connects again as soon as it is
// refused does so thousands of times a second, and each time costs processor time and garbage of which all other clients see the collections:
// with eight such clients, 2.4 percent of the time. If its connection is closed later, it comes back later.

import type { Socket } from 'node:net';

/** The length of a turn: a refused connection is closed within this time. */
export const TURN_MS = 25;
/** So many are closed at once in a turn. */
export const CLOSED_AT_ONCE = 4;
/** So many may wait for the end of a turn; the others are closed at once too. Nothing that they send is kept. */
export const MAX_WAITING = 32;

export class RefusedConnections {
  readonly #waiting: Socket[] = [];
  #closedCount = 0;
  #turn: NodeJS.Timeout | undefined;

  /** Closes the connection now or at the end of the turn. */
  close(socket: Socket): void {
    // It keeps the process alive: else the loop could end while the listener waits for the end of the connections.
    this.#turn ??= setTimeout(this.#endTurn, TURN_MS);
    if (this.#closedCount >= CLOSED_AT_ONCE && this.#waiting.length < MAX_WAITING) {
      socket.on('error', () => undefined);
      // One that is to use TLS is read from its beginning on: what comes is dropped.
      if (!socket.isPaused()) socket.resume();
      this.#waiting.push(socket);
      return;
    }
    this.#closedCount += 1;
    socket.destroy();
  }

  readonly #endTurn = (): void => {
    this.#turn = undefined;
    this.#closedCount = 0;
    for (const socket of this.#waiting.splice(0)) socket.destroy();
  };
}
