// A connection to the broker for the time of one command that asks it something: connects, and turns a refusal or a lost connection into a message and
// exit code 1.

import { type Client, ClientError, CommandError } from '../client/index.ts';
import type { BrokerAddress } from './broker-address.ts';
import { connectOrExplain } from './broker-connection.ts';
import { type CommandContext, ExitCode } from './command.ts';
import { escaped } from './top/shown-text.ts';

/** The exit code of `use`, or 1 after a message on stderr. @throws UsageError for credentials that cannot be read */
export async function withBroker(
  address: BrokerAddress,
  context: CommandContext,
  use: (client: Client) => Promise<ExitCode>,
): Promise<ExitCode> {
  const client = await connectOrExplain(address, context);
  if (client === undefined) return ExitCode.Failed;
  try {
    return await use(client);
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    const lines = [error.message, ...commandHints(error)];
    context.stderr.write(lines.map((line) => `truemq: ${escaped(line)}\n`).join(''));
    return ExitCode.Failed;
  } finally {
    await client.close();
  }
}

/** What to do about a refusal: one line each. */
function commandHints(error: ClientError): readonly string[] {
  const isAboutUsers = error instanceof CommandError && error.command?.startsWith('Admin') === true;
  switch (error.code) {
    case 'QUEUE_NOT_FOUND':
      return ['  this lists the queues: truemq queues list'];
    case 'QUEUE_EXISTS':
      return ['  this shows its options, which nobody can change: truemq queues info QUEUE'];
    case 'NOT_AUTHORIZED':
      if (isAboutUsers) return ['  only a superuser may do this: --username names it'];
      return ['  a superuser can allow it: truemq admin grant USER PATTERN OPERATIONS'];
    case 'UNKNOWN_COMMAND':
      if (!isAboutUsers) return [];
      return [
        '  the broker has no users and rights, only perhaps a token for all',
        '  it has them when it is started with: truemq serve --superuser-password-file FILE',
      ];
    default:
      return [];
  }
}
