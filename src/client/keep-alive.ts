// Keeps a connection alive: sends a Ping at regular times, and ends the connection when one is not answered. Implements CLIENT-007.

import { Command } from '../protocol/command.ts';
import type { ClientConnection } from './client-connection.ts';

/** While reading is paused no answer can arrive, so no Ping is sent. */
export function keepAlive(connection: ClientConnection, intervalMs: number): void {
  const timer = setInterval(() => {
    if (connection.isPaused || !connection.isOpen) return;
    const answered = connection.request({ command: Command.Ping, answer: Command.Pong });
    answered.catch(() => connection.abandon());
  }, intervalMs);
  void connection.closed.then(() => clearInterval(timer));
}
