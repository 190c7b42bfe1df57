// Large messages for subscribers that do not read: together they exceed the socket buffers and the outbound buffer of one connection.
// Area: DELIVERY.
import type { CheckContext } from '../../check.ts';
import type { Connection } from '../../connection.ts';
import { Command } from '../../wire/command.ts';
import { fittingLength, textOfLength } from './bodies.ts';

const togetherBytes = 12 * 1024 * 1024;
const largeBytes = 512 * 1024;

/** How many are 12 MiB together: 24, or more on a broker with a smaller MaxMessageSize. */
export function largeCount({ target }: Pick<CheckContext, 'target'>): number {
  return Math.ceil(togetherBytes / fittingLength(target, largeBytes));
}

/** Publishes a large message in one write, in every chunking mode, and waits for PublishAck. Returns its id. */
export async function publishLarge(ctx: CheckContext, publisher: Connection, queue: string): Promise<string> {
  const id = ctx.id('large');
  const payload = JSON.stringify(textOfLength(fittingLength(ctx.target, largeBytes)));
  await publisher.sendTogether([{ command: Command.Publish, id, queue, payload }]);
  await publisher.expect({ command: 'PublishAck', id });
  return id;
}
