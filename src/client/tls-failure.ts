// Why a TLS handshake failed, and what to do, in words: Node and OpenSSL give codes. Implements the messages of TLS-010.

/** The reason of a connection's error; undefined if it is none of TLS. */
export function tlsFailure({ code, message }: NodeJS.ErrnoException): string | undefined {
  switch (code) {
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'UNABLE_TO_GET_ISSUER_CERT':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return "the broker's certificate is signed by no authority that the client trusts; tlsCa says which one to trust";
    case 'CERT_HAS_EXPIRED':
      return "the broker's certificate has expired";
    case 'CERT_NOT_YET_VALID':
      return "the broker's certificate is not valid yet";
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `the broker's certificate is for another name (${message})`;
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
      return 'there is no TLS on this port';
    case 'ERR_SSL_UNSUPPORTED_PROTOCOL':
    case 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION':
      return 'client and broker have no version of TLS in common';
    case 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED':
      return 'the broker asks the client for a certificate; tlsCertificate and tlsKey give it';
    default:
      return undefined;
  }
}
