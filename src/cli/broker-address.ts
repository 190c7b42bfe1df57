// Which broker `truemq pub`, `sub`, `queues`, `dlq`, `admin` and `bench` connect to, and how: from flags, from the connection string of --url, else from
// that of TRUEMQ_URL. Each flag overrides what the string says. Opens nothing. Implements CLIENT-030 to CLIENT-032 for the command line.

import {
  ConnectionStringError,
  type ConnectionStringOptions,
  parseConnectionString,
} from '../client/connection-string.ts';
import type { TlsOptions } from '../client/tls-options.ts';
import { DEFAULT_HOST, DEFAULT_PORT } from '../model/default-address.ts';
import { type Arguments, type FlagKind, UsageError } from './arguments.ts';
import type { CommandContext } from './command.ts';
import { CREDENTIALS_HELP, type Credentials, credentialFlags, readCredentials } from './credentials.ts';

const VARIABLE = 'TRUEMQ_URL';

export const connectionFlags = {
  url: 'text',
  host: 'text',
  port: 'text',
  tls: 'switch',
  'tls-ca': 'text',
  'tls-certificate': 'text',
  'tls-key': 'text',
  'tls-skip-validation': 'switch',
  ...credentialFlags,
} as const satisfies Readonly<Record<string, FlagKind>>;

export const CONNECTION_HELP = `  --url URL               the broker, as vibemq://[user:password@]host[:port][?tls=true&..] or "Host=..;Port=..;..";
                          else ${VARIABLE} has it. The flags below override what it says
  --host HOST             the broker's address [${DEFAULT_HOST}]
  --port PORT             the broker's port [${DEFAULT_PORT}]
  --tls                   use TLS
  --tls-ca FILE           trust the authorities in this PEM file [those of Node.js]
  --tls-certificate FILE  the client's own certificate, in PEM, for a broker that asks for one
  --tls-key FILE          the key of this certificate, in PEM
  --tls-skip-validation   accept any certificate of the broker: for tests only
${CREDENTIALS_HELP}`;

export type BrokerAddress = TlsOptions & {
  readonly host: string;
  readonly port: number;
  /** What a connection string can set beyond that; absent: the client's default. */
  readonly tuning: Pick<
    ConnectionStringOptions,
    'keepAliveIntervalMs' | 'commandTimeoutMs' | 'compressions' | 'compressionThresholdBytes'
  >;
  /** The command line, for the credentials. */
  readonly given: Arguments;
  /** The name and password of the connection string. */
  readonly inUrl: Pick<Credentials, 'username' | 'password'>;
};

/** @throws UsageError */
export function parseAddress(given: Arguments, { environment }: CommandContext): BrokerAddress {
  const { host = DEFAULT_HOST, port = DEFAULT_PORT, ...url } = connectionString(given, environment);
  const { username, password, useTls, skipCertificateValidation, reconnect: _, queues: __, ...tuning } = url;
  return {
    host: given.texts.get('host') ?? host,
    port: parsePort(given.texts.get('port')) ?? port,
    ...parseTls(given, { useTls, skipCertificateValidation }),
    tuning,
    given,
    inUrl: { ...(username !== undefined && { username }), ...(password !== undefined && { password }) },
  };
}

/** Whether the broker is the one that `truemq serve` starts on this machine without flags. */
export function isDefaultAddress({ host, port }: BrokerAddress): boolean {
  return port === DEFAULT_PORT && /^(localhost|127\.0\.0\.1|::1)$/.test(host);
}

/** @throws UsageError for credentials that cannot be read */
export function readAddressCredentials(
  { given, inUrl }: BrokerAddress,
  context: CommandContext,
): Promise<Credentials> {
  return readCredentials(given, context, inUrl);
}

/** @throws UsageError */
function connectionString(
  { texts }: Arguments,
  environment: CommandContext['environment'],
): Partial<ConnectionStringOptions> {
  const flag = texts.get('url');
  const text = flag ?? environment[VARIABLE];
  if (text === undefined || (text === '' && flag === undefined)) return {};
  const origin = flag === undefined ? VARIABLE : '--url';
  try {
    const options = parseConnectionString(text);
    if (options.skipCertificateValidation !== true || options.useTls === true) return options;
    throw new UsageError(`${origin}: skipCertValidation contradicts a connection without TLS; add tls=true`);
  } catch (error) {
    if (!(error instanceof ConnectionStringError)) throw error;
    throw new UsageError(`${origin}: ${error.message}`);
  }
}

/** @throws UsageError */
function parsePort(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = /^\d+$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65_535) return port;
  throw new UsageError(`--port: came ${JSON.stringify(text)}; allowed is a port from 1 to 65535`);
}

/** @throws UsageError */
function parseTls(
  { texts, switches }: Arguments,
  url: { readonly useTls: boolean | undefined; readonly skipCertificateValidation: boolean | undefined },
): TlsOptions {
  if (!switches.has('tls') && url.useTls !== true) {
    const flag = [...texts.keys(), ...switches].find((name) => name.startsWith('tls-'));
    if (flag === undefined) return {};
    throw new UsageError(`--${flag}: without --tls the connection does not use TLS; add --tls`);
  }
  const [ca, certificate, key] = ['tls-ca', 'tls-certificate', 'tls-key'].map((flag) => texts.get(flag));
  if ((certificate === undefined) !== (key === undefined)) {
    const [given, missing] = key === undefined ? ['certificate', 'key'] : ['key', 'certificate'];
    throw new UsageError(`--tls-${given}: needs --tls-${missing} too`);
  }
  const skips = switches.has('tls-skip-validation');
  if (skips && ca !== undefined) {
    throw new UsageError('--tls-ca: contradicts --tls-skip-validation, which accepts any certificate');
  }
  return {
    useTls: true,
    // A flag that says whom to trust overrides a string that trusts everybody.
    skipCertificateValidation: skips || (ca === undefined && url.skipCertificateValidation === true),
    ...(ca !== undefined && { tlsCa: ca }),
    ...(certificate !== undefined && { tlsCertificate: certificate }),
    ...(key !== undefined && { tlsKey: key }),
  };
}
