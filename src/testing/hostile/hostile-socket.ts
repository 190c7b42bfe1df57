// A raw TCP connection of a hostile client. A connection that the broker refuses or ends is no error: it is counted, and the attack goes on.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { LoginFlood, type Logins } from './login-flood.ts';

export type Deeds = {
  connections: number;
  /** Connections that the broker has ended or reset. */
  ended: number;
  bytes: number;
  /** What became of wrong logins, and of right ones from another address. */
  logins?: Logins;
};

/** After so many bytes the process looks at its signals, though every socket may take more. */
const YIELD_BYTES = 65_536;

export class HostileSockets {
  readonly deeds: Deeds = { connections: 0, ended: 0, bytes: 0 };
  readonly #port: number;
  #bytesToYield = YIELD_BYTES;

  constructor(port: number) {
    this.#port = port;
  }

  /** An open connection that discards what it receives; undefined when the broker did not take it. */
  async open(): Promise<Socket | undefined> {
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true });
    socket.on('error', () => undefined);
    socket.once('close', () => {
      this.deeds.ended += 1;
    });
    const isOpen = await Promise.race([
      once(socket, 'connect').then(
        () => true,
        () => false,
      ),
      once(socket, 'close').then(() => false),
    ]);
    this.deeds.connections += 1;
    socket.resume();
    return isOpen ? socket : undefined;
  }

  /** Sends, and waits while the broker does not read; returns when the connection has ended, too. */
  async send(socket: Socket, bytes: Buffer): Promise<void> {
    if (socket.destroyed) return;
    this.deeds.bytes += bytes.length;
    this.#bytesToYield -= bytes.length;
    if (socket.write(bytes)) return this.#bytesToYield > 0 ? undefined : this.#yield();
    await Promise.race([once(socket, 'drain'), once(socket, 'close')]).catch(() => undefined);
  }

  #yield(): Promise<void> {
    this.#bytesToYield = YIELD_BYTES;
    return new Promise((resolve) => {
      setImmediate(resolve);
    });
  }

  /** Goes on until the process ends. */
  floodLogins(perSecond: number): void {
    const flood = new LoginFlood(this.#port, () => {
      this.deeds.connections += 1;
    });
    flood.begin(perSecond);
    this.deeds.logins = flood;
  }

  async ended(socket: Socket): Promise<void> {
    // An error comes before the end, and is none of the attack.
    if (!socket.destroyed) await new Promise((resolve) => void socket.once('close', resolve));
  }
}
