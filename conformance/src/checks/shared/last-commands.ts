// Shared by the checks of clients that leave: what they sent last is carried out and answered. Area: CONN.
import type { CheckContext } from '../../check.ts';
import type { Connection } from '../../connection.ts';
import { Command } from '../../wire/command.ts';
import { messageCountOf, newQueue } from './queue-state.ts';

/** Sends publishes and a Ping on `client`, ends its side of the connection, and asserts that all was carried out and answered (CONN-041). */
export async function expectLastCommands(
  ctx: CheckContext,
  client: Connection,
  witness: Connection,
): Promise<void> {
  const queue = await newQueue(ctx, witness, 'sent-and-gone');
  const ids = [ctx.id('m'), ctx.id('m'), ctx.id('m')];
  const ping = ctx.id('ping');
  await client.sendTogether([
    ...ids.map((id) => ({ command: Command.Publish, id, queue, payload: '1' })),
    { command: Command.Ping, id: ping },
  ]);
  await client.end();
  await client.closed();
  for (const id of ids) await client.expect({ command: 'PublishAck', id });
  await client.expect({ command: 'Pong', id: ping });
  ctx.assert.equal(await messageCountOf(witness, queue), ids.length, 'number of messages', 'CONN-041');
}
