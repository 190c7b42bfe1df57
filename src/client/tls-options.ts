// The options of a client for TLS, and the files that they name. Implements TLS-010 together with dial.ts.

import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls';
import { ConnectionError } from './errors.ts';

/** A text in PEM, or the path of a file with one. */
export type Pem = string | Buffer;

export type TlsOptions = {
  /** Encrypts the connection. Default false, but an option below that begins with `tls` needs to know: then it must be given. */
  readonly useTls?: boolean;
  /** Accepts any certificate of the broker, so that anybody can pretend to be it. For tests only. Default false. */
  readonly skipCertificateValidation?: boolean;
  /** The authorities that the client trusts. Default: those of Node.js. */
  readonly tlsCa?: Pem;
  /** The client's own certificate and its key, for brokers that ask for one. */
  readonly tlsCertificate?: Pem;
  readonly tlsKey?: Pem;
  readonly tlsKeyPassword?: string;
  /** The name in the broker's certificate, if it is not `host`. */
  readonly tlsServerName?: string;
};

const START_OF_CERTIFICATE = /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----/g;
const END_OF_CERTIFICATE = /-----END (?:X509 |TRUSTED )?CERTIFICATE-----/g;

/** What is needed to open a connection. */
export type DialOptions = TlsOptions & { readonly host?: string; readonly port?: number };

/** @throws ConnectionError when a file cannot be read, or certificate and key cannot be used */
export function tlsContext(options: TlsOptions): SecureContext {
  const ca = readPem('tlsCa', options.tlsCa);
  checkAuthorities(ca);
  const cert = readPem('tlsCertificate', options.tlsCertificate);
  const key = readPem('tlsKey', options.tlsKey);
  const { tlsKeyPassword: passphrase } = options;
  try {
    return contextOf('tlsCertificate and tlsKey together', { ca, cert, key, passphrase });
  } catch (error) {
    // OpenSSL does not say which file it means: the one that fails alone.
    contextOf('tlsCa', { ca });
    contextOf('tlsCertificate', { cert });
    contextOf('tlsKey', { key, passphrase });
    throw error;
  }
}

/** @throws ConnectionError that names `what` */
function contextOf(what: string, secrets: SecureContextOptions): SecureContext {
  const known = Object.fromEntries(Object.entries(secrets).filter(([, value]) => value !== undefined));
  try {
    return createSecureContext({ ...known, minVersion: 'TLSv1.2' });
  } catch (error) {
    const { code = 'CONNECTION_FAILED', message } = error as NodeJS.ErrnoException;
    throw new ConnectionError(code, `${what} cannot be used: ${message}`, { cause: error });
  }
}

/** OpenSSL takes a text without a certificate for no authority, and then trusts nobody; so it does with what is cut off. @throws ConnectionError */
function checkAuthorities(ca: Pem | undefined): void {
  if (ca === undefined) return;
  const [starts, ends] = [START_OF_CERTIFICATE, END_OF_CERTIFICATE].map(
    (mark) => String(ca).match(mark)?.length ?? 0,
  );
  if (starts === 0)
    throw new ConnectionError('CONNECTION_FAILED', 'tlsCa: there is no certificate in PEM in it');
  if (starts !== ends)
    throw new ConnectionError('CONNECTION_FAILED', 'tlsCa: a certificate in it is cut off');
}

const tlsOnly = ['tlsCa', 'tlsCertificate', 'tlsKey', 'tlsKeyPassword', 'tlsServerName'] as const;

/**
 * @throws TypeError for options of TLS without `useTls`, because the connection would not be encrypted; for a certificate without its key, or
 *   the other way round, because it would not be used
 */
export function checkTlsOptions(options: TlsOptions): void {
  const { useTls, tlsCertificate, tlsKey } = options;
  const needless = tlsOnly.find((name) => options[name] !== undefined);
  if (useTls === undefined && needless !== undefined)
    throw new TypeError(
      `${needless} needs useTls: true; useTls: false says that the connection is not encrypted`,
    );
  if ((tlsCertificate === undefined) === (tlsKey === undefined)) return;
  const [given, missing] = tlsKey === undefined ? ['tlsCertificate', 'tlsKey'] : ['tlsKey', 'tlsCertificate'];
  throw new TypeError(`${given} needs ${missing}`);
}

function readPem(option: string, value: Pem | undefined): Pem | undefined {
  if (typeof value !== 'string' || value.includes('-----BEGIN ')) return value;
  try {
    return readFileSync(value);
  } catch (error) {
    const { code = 'CONNECTION_FAILED', message } = error as NodeJS.ErrnoException;
    throw new ConnectionError(code, `${option}: cannot read ${value}: ${message}`, { cause: error });
  }
}
