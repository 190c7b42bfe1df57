// The keys of TLS, a part of the table of keys.ts. Values and words only. Implements AUTH-054 for the password, TLS-009 and TLS-012.

import type { KeyKind } from './key-kinds.ts';

export const tlsKeys = {
  tlsEnabled: {
    kind: 'boolean',
    section: 'TLS',
    words: ['true', 'false'],
    derived: 'true when tlsCertificatePath is given',
    doc: 'Whether clients must use TLS; those that do not are not served.',
  },
  tlsCertificatePath: {
    kind: 'text',
    section: 'TLS',
    default: '',
    mayBeEmpty: true,
    doc: "The broker's certificate: a PKCS#12 file (.pfx, .p12), or a PEM file, in which the certificates of intermediate authorities may follow it. SIGHUP reads it again.",
  },
  tlsCertificatePassword: {
    kind: 'text',
    section: 'TLS',
    default: '',
    mayBeEmpty: true,
    secret: true,
    doc: 'The password of the PKCS#12 file or of the key. As a flag it shows in the list of processes: prefer tlsCertificatePasswordFile.',
  },
  tlsCertificatePasswordFile: {
    kind: 'text',
    section: 'TLS',
    default: '',
    mayBeEmpty: true,
    doc: 'A file that contains tlsCertificatePassword. One line break at its end does not count. SIGHUP does not read it again.',
  },
  tlsKeyPath: {
    kind: 'text',
    section: 'TLS',
    default: '',
    mayBeEmpty: true,
    doc: 'The key of the certificate, in PEM; without it the file of the certificate has the key too.',
  },
  tlsClientCaPath: {
    kind: 'text',
    section: 'TLS',
    default: '',
    mayBeEmpty: true,
    doc: 'Certificates of authorities, in PEM. When it is given, a client needs a certificate that one of them has signed.',
  },
} as const satisfies Record<string, KeyKind>;
