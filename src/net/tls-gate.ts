// Secures accepted connections with TLS: the handshakes, their certificates, and the renewal of these. A handshake that fails ends its own
// connection and no other; how long one may take is up to whoever serves the stream. Implements TLS-001 to TLS-004, TLS-008 and TLS-011.

import { constants } from 'node:crypto';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createServer, type SecureContextOptions, type Server, type TLSSocket } from 'node:tls';
import type { ServerIdentity } from './certificates.ts';
import { SecuredStream } from './secured-stream.ts';
import { tlsVersions } from './tls-versions.ts';

/** The longest that Node knows: the broker's own handshake timeout is the one that counts. */
const NO_TIMEOUT_MS = 2_147_483_647;

export type TlsGateOptions = {
  /** A client did not complete its handshake. `address`: its own, without the port; undefined if it is not known any more. */
  readonly onFailure: (reason: string, address: string | undefined) => void;
  /** Unsent bytes of a stream above which writes report that it is full. */
  readonly highWaterMarkBytes: number;
};

export class TlsGate {
  readonly #options: TlsGateOptions;
  /** Never listens: it gets its connections from the TCP listener. */
  readonly #server: Server;
  /** Streams whose handshake has begun, by the address of their client. */
  readonly #shakingHands = new Map<string, SecuredStream>();

  constructor(identity: ServerIdentity, options: TlsGateOptions) {
    this.#options = options;
    const { requiresClientCertificate } = identity;
    this.#server = createServer({
      ...contextOptions(identity),
      requestCert: requiresClientCertificate,
      rejectUnauthorized: requiresClientCertificate,
      handshakeTimeout: NO_TIMEOUT_MS,
    });
    this.#server.on('secureConnection', (secured) => this.#open(secured));
    this.#server.on('tlsClientError', (error, secured) => {
      options.onFailure(handshakeFailure(error, secured), failedAddress(secured));
      secured.destroy();
    });
  }

  /** The decrypted stream of a connection; it can be used at once. */
  secure(socket: Socket): Duplex {
    const address = addressOf(socket);
    // A client that ends its side within the handshake will never complete it: then Node ends the connection.
    socket.allowHalfOpen = false;
    const stream: SecuredStream = new SecuredStream({
      connection: socket,
      highWaterMarkBytes: this.#options.highWaterMarkBytes,
      begin: () => {
        this.#shakingHands.set(address, stream);
        this.#server.emit('connection', socket);
      },
    });
    stream.once('close', () => {
      if (this.#shakingHands.get(address) === stream) this.#shakingHands.delete(address);
    });
    return stream;
  }

  /** Handshakes that begin from now on use these certificates. */
  renew(identity: ServerIdentity): void {
    this.#server.setSecureContext(contextOptions(identity));
  }

  /** Node tells which connection is secure only by its address, which no two open connections of a listener share. */
  #open(secured: TLSSocket): void {
    const address = addressOf(secured);
    secured.allowHalfOpen = true;
    const stream = this.#shakingHands.get(address);
    this.#shakingHands.delete(address);
    if (stream === undefined || stream.destroyed) secured.destroy();
    else stream.open(secured);
  }
}

function contextOptions({ secrets }: ServerIdentity): SecureContextOptions {
  // A client that negotiates again and again would keep the broker busy.
  return { ...secrets, ...tlsVersions, secureOptions: constants.SSL_OP_NO_RENEGOTIATION };
}

function addressOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** The connection below, which Node does not document: it still knows its address when it has ended. */
type OverConnection = { readonly _parent?: Socket | null };

function failedAddress(secured: TLSSocket & OverConnection): string | undefined {
  return secured.remoteAddress ?? secured._parent?.remoteAddress;
}

/** OpenSSL's reason, in its words. */
function handshakeFailure(error: Error & { readonly reason?: unknown }, { authorizationError }: TLSSocket) {
  if (authorizationError) return `the client's certificate is not accepted: ${authorizationError}`;
  return typeof error.reason === 'string' ? error.reason : error.message;
}
