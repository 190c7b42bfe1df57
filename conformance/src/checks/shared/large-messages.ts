// Messages so large that a subscriber who does not read is noticed: together they fit into no sum of socket buffers and of what a
// broker keeps for one connection. Area: DELIVERY.
import type { CheckContext } from '../../check.ts';
import type { Connection } from '../../connection.ts';
import { Command } from '../../wire/command.ts';
import { textOfLength } from './bodies.ts';

/** 12 MiB altogether. */
export const largeCount = 24;
const largeBytes = 512 * 1024;
const payload = Buffer.from(JSON.stringify(textOfLength(largeBytes)));

/** Publishes a large message, in one write however frames are cut, and waits for PublishAck; returns its id. */
export async function publishLarge(ctx: CheckContext, publisher: Connection, queue: string): Promise<string> {
  const id = ctx.id('large');
  await publisher.sendTogether([{ command: Command.Publish, id, queue, payload }]);
  await publisher.expect({ command: 'PublishAck', id });
  return id;
}
