// Large messages for subscribers that do not read: together they exceed the socket buffers and the outbound buffer of one connection.
// Area: DELIVERY.
import type { CheckContext } from '../../check.ts';
import type { Connection } from '../../connection.ts';
import { Command } from '../../wire/command.ts';
import { textOfLength } from './bodies.ts';

/** Together 12 MiB. */
export const largeCount = 24;
const largeBytes = 512 * 1024;
const payload = Buffer.from(JSON.stringify(textOfLength(largeBytes)));

/** Publishes a large message in one write, in every chunking mode, and waits for PublishAck. Returns its id. */
export async function publishLarge(ctx: CheckContext, publisher: Connection, queue: string): Promise<string> {
  const id = ctx.id('large');
  await publisher.sendTogether([{ command: Command.Publish, id, queue, payload }]);
  await publisher.expect({ command: 'PublishAck', id });
  return id;
}
