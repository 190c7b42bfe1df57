// Keeps a connection alive: sends a Ping at regular times, and ends the connection when one is not answered. Implements CLIENT-007.

import { Command } from '../protocol/command.ts';
import type { ClientConnection } from './client-connection.ts';
import { ClientError } from './errors.ts';
import type { ClientSettings } from './options.ts';
import { callSafely } from './process-warning.ts';

export type KeepAliveSettings = Pick<ClientSettings, 'keepAliveIntervalMs' | 'createId'>;

/** While reading is paused no answer can arrive: the Ping tells the broker that the client lives, and its Pong is not awaited. */
export function keepAlive(
  connection: ClientConnection,
  { keepAliveIntervalMs, createId }: KeepAliveSettings,
): void {
  const ping = async () => {
    if (connection.isPaused) {
      connection.send({ command: Command.Ping, id: createId() });
      return;
    }
    const answered = connection.request({ command: Command.Ping, answer: Command.Pong });
    await answered.catch((error: unknown) => {
      if (!(error instanceof ClientError)) throw error;
      connection.abandon();
    });
  };
  const timer = setInterval(() => {
    if (connection.isOpen) callSafely('a Ping, for which createId made no id of its own,', ping);
  }, keepAliveIntervalMs);
  void connection.closed.then(() => clearInterval(timer));
}
