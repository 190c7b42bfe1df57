// Connects `truemq pub`, `sub`, `queues`, `admin` and `bench` to their broker, and says what failed. Implements CLIENT-001 for the command line.

import { type Client, connect } from '../client/client.ts';
import { CommandError, ConnectionError, ProtocolError } from '../client/errors.ts';
import type { ConnectOptions } from '../client/options.ts';
import { DEFAULT_PORT } from '../model/default-address.ts';
import { VERSION } from '../server/version.ts';
import { type BrokerAddress, readAddressCredentials } from './broker-address.ts';
import type { CommandContext } from './command.ts';
import { escaped } from './top/shown-text.ts';

/**
 * A connected client; undefined if that failed, after a message on stderr. `own`: the options of the command itself.
 * @throws UsageError for credentials that cannot be read
 */
export async function connectOrExplain(
  brokerAddress: BrokerAddress,
  context: CommandContext,
  own: Pick<ConnectOptions, 'maxMessageSizeBytes' | 'publishWindow'> = {},
): Promise<Client | undefined> {
  const { stderr } = context;
  const { given: _, inUrl: __, tuning, ...address } = brokerAddress;
  const credentials = await readAddressCredentials(brokerAddress, context);
  try {
    const onHandlerError = () => undefined;
    const clientVersion = `truemq ${VERSION}`;
    const options = { ...tuning, ...own, ...address, ...credentials, clientVersion, onHandlerError };
    return await connect({ ...options, reconnect: false });
  } catch (error) {
    stderr.write(
      explainFailure(error, address)
        .map((line) => `truemq: ${escaped(line.trimEnd())}\n`)
        .join(''),
    );
    return undefined;
  }
}

/** What happened, and what to check: one line each. */
export function explainFailure(
  error: unknown,
  { host, port, useTls }: Pick<BrokerAddress, 'host' | 'port' | 'useTls'>,
): readonly string[] {
  const place = `${host}:${port}`;
  if (error instanceof CommandError)
    return [`the broker at ${place} refused: ${error.message}`, ...refusalHints(error.code)];
  if (error instanceof ProtocolError) {
    return [
      `cannot connect to ${place}: ${withFlags(error.message)}`,
      `  the broker's --port is meant, by default ${DEFAULT_PORT}, and not its --health-port or --dashboard-port`,
    ];
  }
  if (!(error instanceof ConnectionError)) return [`cannot connect to ${place}: ${String(error)}`];
  switch (error.code) {
    case 'ECONNREFUSED':
      return [
        `nobody listens on ${place}`,
        '  is a broker running there? this starts one: truemq serve',
        '  somewhere else? --url, or --host and --port, say where',
      ];
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return [`there is no host ${host}`];
    case 'CONNECTION_ENDED':
      return [
        `the broker at ${place} closed the connection before it answered`,
        '  too many connections? by default a broker takes 20 a minute from one address (maxConnectionsPerIpPerWindow)',
        useTls === true
          ? '  does it ask for a certificate of yours? --tls-certificate and --tls-key give it'
          : '  is it a broker at all, and one without TLS? with --tls the connection uses TLS',
      ];
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return [
        withFlags(error.message),
        '  --tls-ca FILE names the authority, or a self-signed certificate itself',
      ];
    default:
      return [withFlags(error.message)];
  }
}

/** The client names its options, which are flags here. */
export function withFlags(message: string): string {
  return message
    .replaceAll(/(its )?maxMessageSizeBytes/g, '--max-message-size')
    .replaceAll('useTls: true', '--tls')
    .replaceAll('tlsCa', '--tls-ca')
    .replaceAll('tlsCertificate', '--tls-certificate')
    .replaceAll('tlsKey', '--tls-key');
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
