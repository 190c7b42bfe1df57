// A certificate or a key that cannot be used, in one line for people: which file, why, and the setting that names it. Implements the
// messages of TLS-005 to TLS-007. Never holds a password or any part of a key.

/** The settings that name files. */
const FLAGS = {
  certificatePath: '--tls-certificate-path',
  keyPath: '--tls-key-path',
  clientCaPath: '--tls-client-ca-path',
} as const;

export type CertificateSetting = keyof typeof FLAGS;

export class CertificateError extends Error {
  constructor(file: string, setting: CertificateSetting, reason: string) {
    super(`cannot use ${file} for TLS: ${reason} (set by ${FLAGS[setting]})`);
    this.name = 'CertificateError';
  }
}

/** Why a file cannot be read, by the system's error. */
export function readFailureReason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'ENOENT':
      return 'there is no such file';
    case 'EISDIR':
      return 'it is a folder';
    case 'EACCES':
    case 'EPERM':
      return 'this user may not read it';
    default:
      return code ?? message;
  }
}

/** The reason that OpenSSL gives, without its numbers and places in source code. */
export function opensslReason(error: unknown): string {
  const { reason, message } = error as Error & { readonly reason?: unknown };
  return typeof reason === 'string' ? reason : (message.split('\n')[0] ?? '');
}
