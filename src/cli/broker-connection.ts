// Connects `truemq pub`, `sub` and `admin` to their broker: the flags that all have, and the message when the connection fails. Implements
// CLIENT-001 for the command line.

import { type Client, connect } from '../client/client.ts';
import { CommandError, ConnectionError } from '../client/errors.ts';
import type { TlsOptions } from '../client/tls-options.ts';
import { ZlibCompressor } from '../gateway/compressor.ts';
import { DEFAULT_HOST, DEFAULT_PORT } from '../model/default-address.ts';
import { type Arguments, type FlagKind, UsageError } from './arguments.ts';
import type { CommandContext } from './command.ts';
import { CREDENTIALS_HELP, type Credentials, credentialFlags, readCredentials } from './credentials.ts';
import { VERSION } from './version.ts';

export const connectionFlags = {
  host: 'text',
  port: 'text',
  tls: 'switch',
  'tls-ca': 'text',
  'tls-certificate': 'text',
  'tls-key': 'text',
  'tls-skip-validation': 'switch',
  ...credentialFlags,
} as const satisfies Readonly<Record<string, FlagKind>>;

export const CONNECTION_HELP = `  --host HOST       the broker's address [${DEFAULT_HOST}]
  --port PORT       the broker's port [${DEFAULT_PORT}]
  --tls             use TLS
  --tls-ca FILE     trust the authorities in this PEM file [those of Node.js]
  --tls-certificate FILE, --tls-key FILE
                    the client's own certificate and key, in PEM, for a broker that asks for them
  --tls-skip-validation
                    accept any certificate of the broker: for tests only
${CREDENTIALS_HELP}`;

export type BrokerAddress = TlsOptions & {
  readonly host: string;
  readonly port: number;
  /** The command line, for the credentials. */
  readonly given: Arguments;
};

/** @throws UsageError */
export function parseAddress(given: Arguments, _context: CommandContext): BrokerAddress {
  const { texts } = given;
  const host = texts.get('host') ?? DEFAULT_HOST;
  const text = texts.get('port') ?? String(DEFAULT_PORT);
  const port = /^\d+$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65_535) return { host, port, given, ...parseTls(given) };
  throw new UsageError(`--port: came ${JSON.stringify(text)}; allowed is a port from 1 to 65535`);
}

/** Whether the broker is the one that `truemq serve` starts on this machine without flags. */
export function isDefaultAddress({ host, port }: BrokerAddress): boolean {
  return port === DEFAULT_PORT && /^(localhost|127\.0\.0\.1|::1)$/.test(host);
}

/** @throws UsageError for credentials that cannot be read */
export function readAddressCredentials(
  { given }: BrokerAddress,
  context: CommandContext,
): Promise<Credentials> {
  return readCredentials(given, context);
}

function parseTls({ texts, switches }: Arguments): TlsOptions {
  if (!switches.has('tls')) {
    const flag = [...texts.keys(), ...switches].find((name) => name.startsWith('tls-'));
    if (flag === undefined) return {};
    throw new UsageError(`--${flag}: without --tls the connection does not use TLS; add --tls`);
  }
  const [ca, certificate, key] = ['tls-ca', 'tls-certificate', 'tls-key'].map((flag) => texts.get(flag));
  return {
    useTls: true,
    skipCertificateValidation: switches.has('tls-skip-validation'),
    ...(ca !== undefined && { tlsCa: ca }),
    ...(certificate !== undefined && { tlsCertificate: certificate }),
    ...(key !== undefined && { tlsKey: key }),
  };
}

/** A connected client; undefined if that failed, after a message on stderr. @throws UsageError for credentials that cannot be read */
export async function connectOrExplain(
  brokerAddress: BrokerAddress,
  context: CommandContext,
): Promise<Client | undefined> {
  const { stderr } = context;
  const { given: _, ...address } = brokerAddress;
  const credentials = await readAddressCredentials(brokerAddress, context);
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
  { host, port, useTls }: Pick<BrokerAddress, 'host' | 'port' | 'useTls'>,
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
        useTls === true
          ? '  does it ask for a certificate of yours? --tls-certificate and --tls-key give it'
          : '  is it a broker at all, and one without TLS? with --tls the connection uses TLS',
      ];
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return [error.message, '  --tls-ca FILE names the authority, or a self-signed certificate itself'];
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
