// Connects `truemq pub`, `sub` and `admin` to their broker: the flags that all have, and the message when the connection fails. Implements
// CLIENT-001 for the command line.

import { type Client, connect } from '../client/client.ts';
import { CommandError, ConnectionError } from '../client/errors.ts';
import { ZlibCompressor } from '../gateway/compressor.ts';
import { DEFAULT_HOST, DEFAULT_PORT } from '../model/default-address.ts';
import { type Arguments, type FlagKind, UsageError } from './arguments.ts';
import type { CommandContext } from './command.ts';
import { CREDENTIALS_HELP, credentialFlags, readCredentials } from './credentials.ts';
import { VERSION } from './version.ts';

export const connectionFlags = {
  host: 'text',
  port: 'text',
  ...credentialFlags,
} as const satisfies Readonly<Record<string, FlagKind>>;

export const CONNECTION_HELP = `  --host HOST       the broker's address [${DEFAULT_HOST}]
  --port PORT       the broker's port [${DEFAULT_PORT}]
${CREDENTIALS_HELP}`;

export type BrokerAddress = {
  readonly host: string;
  readonly port: number;
  /** The command line, for the credentials. */
  readonly given: Arguments;
};

/** @throws UsageError */
export function parseAddress(given: Arguments): BrokerAddress {
  const { texts } = given;
  const host = texts.get('host') ?? DEFAULT_HOST;
  const text = texts.get('port') ?? String(DEFAULT_PORT);
  const port = /^\d+$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65_535) return { host, port, given };
  throw new UsageError(`--port: came ${JSON.stringify(text)}; allowed is a port from 1 to 65535`);
}

/** A connected client; undefined if that failed, after a message on stderr. @throws UsageError for credentials that cannot be read */
export async function connectOrExplain(
  { given, ...address }: BrokerAddress,
  context: CommandContext,
): Promise<Client | undefined> {
  const { stderr } = context;
  const credentials = await readCredentials(given, context);
  try {
    const onHandlerError = () => undefined;
    const clientVersion = `truemq ${VERSION}`;
    const compressor = new ZlibCompressor();
    return await connect({ ...address, ...credentials, compressor, clientVersion, onHandlerError });
  } catch (error) {
    stderr.write(
      explainFailure(error, address)
        .map((line) => `truemq: ${line}\n`)
        .join(''),
    );
    return undefined;
  }
}

/** What happened, and what to check: one line each. */
export function explainFailure(
  error: unknown,
  { host, port }: Pick<BrokerAddress, 'host' | 'port'>,
): readonly string[] {
  const place = `${host}:${port}`;
  if (error instanceof CommandError)
    return [`the broker at ${place} refused: ${error.message}`, ...refusalHints(error.code)];
  if (!(error instanceof ConnectionError)) return [`cannot connect to ${place}: ${String(error)}`];
  switch (error.code) {
    case 'ECONNREFUSED':
      return [
        `nobody listens on ${place}`,
        '  is a broker running there? this starts one: truemq serve',
        '  somewhere else? --host and --port say where',
      ];
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return [`there is no host ${host}`];
    case 'CONNECTION_ENDED':
      return [
        `the broker at ${place} closed the connection before it answered`,
        '  too many connections? by default a broker takes 20 a minute from one address (maxConnectionsPerIpPerWindow)',
        '  is it a broker at all, and one without TLS?',
      ];
    default:
      return [error.message];
  }
}

function refusalHints(code: string): readonly string[] {
  switch (code) {
    case 'CONNECTION_LIMIT':
      return ['  its maxConnections are all taken; close some, or raise it'];
    case 'AUTH_REQUIRED':
      return ['  --username with TRUEMQ_PASSWORD or --password-file, or --auth-token-file, say who connects'];
    case 'AUTH_FAILED':
      return ['  is the name right, and is the password or the token the one of this broker?'];
    default:
      return [];
  }
}
