// Reads the certificate of the broker, its key and the authorities of its clients, and checks them before anybody connects. What it returns
// can be used: the files belong together, the password opens them, and the certificate is valid today. Implements TLS-005 to TLS-007 and
// TLS-009. Does not listen.

import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import {
  CertificateError,
  type CertificateSetting,
  opensslReason,
  readFailureReason,
} from './certificate-error.ts';
import { presentedCertificate } from './presented-certificate.ts';

/** Paths of files, and a password; an empty text means none. */
export type CertificateFiles = {
  /** PKCS#12 with the key, or PEM. */
  readonly certificatePath: string;
  /** Opens the PKCS#12 file or the key. */
  readonly certificatePassword: string;
  /** PEM; without it the certificate's file has the key too. */
  readonly keyPath: string;
  /** PEM: clients need a certificate that one of these authorities has signed. */
  readonly clientCaPath: string;
};

/** Who the broker is for its clients, and whom it accepts. */
export type ServerIdentity = {
  /** What OpenSSL needs of it. */
  readonly secrets: Pick<SecureContextOptions, 'cert' | 'key' | 'pfx' | 'passphrase' | 'ca'>;
  readonly requiresClientCertificate: boolean;
  /** The file of the certificate, for messages. */
  readonly path: string;
  readonly certificate: X509Certificate;
};

const DAY_MS = 86_400_000;
/** How long before its end a certificate is worth a warning. */
const WARNING_DAYS = 30;

type CertificateAndKey = Pick<ServerIdentity['secrets'], 'cert' | 'key' | 'pfx' | 'passphrase'>;

/**
 * Reads and checks the files.
 * @param wallNow Unix milliseconds
 * @throws CertificateError naming the file and the reason
 */
export async function loadIdentity(files: CertificateFiles, wallNow: number): Promise<ServerIdentity> {
  const own = loadCertificateAndKey(files);
  const ca = files.clientCaPath === '' ? undefined : loadAuthorities(files.clientCaPath);
  const certificate = await acceptedByOpenssl(own, files.certificatePath);
  const problem = validityProblem(certificate, wallNow);
  if (problem !== undefined) throw certificateError(files, problem);
  return {
    secrets: { ...own, ...(ca !== undefined && { ca }) },
    requiresClientCertificate: ca !== undefined,
    path: files.certificatePath,
    certificate,
  };
}

/** Days until the certificate ends, if they are few. */
export function daysUntilExpiry({ certificate }: ServerIdentity, wallNow: number): number | undefined {
  const days = Math.floor((Date.parse(certificate.validTo) - wallNow) / DAY_MS);
  return days < WARNING_DAYS ? days : undefined;
}

function loadCertificateAndKey(files: CertificateFiles): CertificateAndKey {
  const content = read(files.certificatePath, 'certificatePath');
  return isPem(content) ? loadPem(content, files) : loadPkcs12(content, files);
}

function loadPkcs12(pfx: Buffer, files: CertificateFiles): CertificateAndKey {
  const secrets = { pfx, ...passphraseOf(files) };
  const reason = pkcs12Refusal(secrets);
  const problem = reason === undefined ? undefined : pkcs12Problem(reason, files.certificatePassword);
  // Before the other files: they may be right beside a certificate that was not written whole.
  if (reason !== undefined && problem === undefined)
    throw certificateError(files, `it is neither PEM nor PKCS#12 (${reason})`);
  // Node trusts the authorities in a PKCS#12 file, and public ones sign certificates for anybody.
  if (files.clientCaPath !== '') {
    const clash = `clients of the authorities in ${files.certificatePath} would be accepted too; give certificate and key in PEM instead of PKCS#12`;
    throw new CertificateError(files.clientCaPath, 'clientCaPath', clash);
  }
  if (files.keyPath !== '') {
    const clash = `the certificate ${files.certificatePath} is no PEM file, and a PKCS#12 file has its own key`;
    throw new CertificateError(files.keyPath, 'keyPath', clash);
  }
  if (problem !== undefined) throw certificateError(files, problem);
  return secrets;
}

/** Why OpenSSL does not read it; undefined: it does. */
function pkcs12Refusal(secrets: CertificateAndKey): string | undefined {
  try {
    createSecureContext(secrets);
    return undefined;
  } catch (error) {
    return opensslReason(error);
  }
}

/** What is wrong with a PKCS#12 file; undefined: it is none. */
function pkcs12Problem(reason: string, password: string): string | undefined {
  if (/mac verify failure/i.test(reason)) {
    return password === ''
      ? 'it needs a password; --tls-certificate-password gives it'
      : 'the password of --tls-certificate-password does not open it';
  }
  return /unsupported/i.test(reason)
    ? 'its encryption is too old for OpenSSL 3; export it again with a current tool'
    : undefined;
}

function loadPem(cert: Buffer, files: CertificateFiles): CertificateAndKey {
  const certificate = firstCertificate(cert, (reason) => certificateError(files, reason));
  const isOneFile = files.keyPath === '';
  const key = isOneFile ? cert : read(files.keyPath, 'keyPath');
  const keyError = (reason: string) =>
    isOneFile ? certificateError(files, reason) : new CertificateError(files.keyPath, 'keyPath', reason);
  if (!certificate.checkPrivateKey(openKey(key, files, keyError))) {
    const holder = isOneFile ? 'its key' : `the key ${files.keyPath}`;
    throw certificateError(
      files,
      `${holder} does not belong to its first certificate, which must be the broker's own`,
    );
  }
  return { cert, key, ...passphraseOf(files) };
}

function openKey(
  pem: Buffer,
  { keyPath, certificatePassword }: CertificateFiles,
  toError: (reason: string) => CertificateError,
): KeyObject {
  if (!/-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/.test(pem.toString('latin1'))) {
    const advice = keyPath === '' ? '; --tls-key-path names the file that does' : '';
    throw toError(`it has no private key in PEM${advice}`);
  }
  try {
    return createPrivateKey({ key: pem, passphrase: certificatePassword });
  } catch (error) {
    throw toError(keyProblem(pem, certificatePassword, error));
  }
}

function keyProblem(pem: Buffer, password: string, error: unknown): string {
  if (!/ENCRYPTED/.test(pem.toString('latin1'))) return `its key cannot be read (${opensslReason(error)})`;
  return password === ''
    ? 'its key needs a password; --tls-certificate-password gives it'
    : 'the password of --tls-certificate-password does not open its key';
}

function loadAuthorities(path: string): string[] {
  const toError = (reason: string) => new CertificateError(path, 'clientCaPath', reason);
  const blocks = certificateBlocks(read(path, 'clientCaPath'));
  if (blocks.length === 0) throw toError('it has no certificate in PEM');
  for (const block of blocks) parseCertificate(block, toError);
  return blocks;
}

function firstCertificate(pem: Buffer, toError: (reason: string) => CertificateError): X509Certificate {
  const [first] = certificateBlocks(pem);
  if (first === undefined) throw toError('it has no certificate in PEM');
  return parseCertificate(first, toError);
}

function parseCertificate(pem: string, toError: (reason: string) => CertificateError): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (error) {
    throw toError(`a certificate in it cannot be read (${opensslReason(error)})`);
  }
}

function certificateBlocks(pem: Buffer): string[] {
  const block =
    /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----[\s\S]*?-----END (?:TRUSTED |X509 )?CERTIFICATE-----/g;
  return pem.toString('latin1').match(block) ?? [];
}

/** The certificate that clients get. Fails when OpenSSL does not use it, for instance because its key is too short. */
async function acceptedByOpenssl(secrets: CertificateAndKey, path: string): Promise<X509Certificate> {
  try {
    return await presentedCertificate(secrets);
  } catch (error) {
    throw new CertificateError(path, 'certificatePath', `OpenSSL refuses it (${opensslReason(error)})`);
  }
}

function validityProblem({ validFrom, validTo }: X509Certificate, wallNow: number): string | undefined {
  if (wallNow >= Date.parse(validTo)) return `it expired on ${dayOf(validTo)}`;
  if (wallNow < Date.parse(validFrom)) return `it is not valid before ${dayOf(validFrom)}`;
  return undefined;
}

function dayOf(text: string): string {
  return new Date(text).toISOString().slice(0, 10);
}

function isPem(content: Buffer): boolean {
  return content.includes('-----BEGIN ');
}

function passphraseOf({ certificatePassword }: CertificateFiles): { readonly passphrase?: string } {
  return certificatePassword === '' ? {} : { passphrase: certificatePassword };
}

function certificateError({ certificatePath }: CertificateFiles, reason: string): CertificateError {
  return new CertificateError(certificatePath, 'certificatePath', reason);
}

function read(path: string, setting: CertificateSetting): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new CertificateError(path, setting, readFailureReason(error));
  }
}
