// Opens TCP connections to the broker under test, with TLS if the address says so, at a limited rate and with a deadline. If the broker does
// not accept a connection, that is a ConnectionNotAccepted, an ExpectationFailure.
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import type { TlsVersion } from '../check.ts';
import { ExpectationFailure } from '../expectation.ts';
import type { Endpoints } from '../target/target-file.ts';
import type { Timing } from '../timing.ts';
import { BrokerConnection } from '../wire/broker-connection.ts';
import type { ConnectionSetting, NewStream } from '../wire/link.ts';
import { secureSocket } from '../wire/secure-socket.ts';
import type { Pacer } from './pacer.ts';

/** The broker refused the TCP connection or the TLS handshake, or did not accept it in time. */
export class ConnectionNotAccepted extends ExpectationFailure {
  /** The broker accepted the TCP connection and closed it without a byte. */
  readonly wasSilent: boolean;

  constructor(actual: string, { wasSilent = false } = {}) {
    super('the broker accepts a connection', { expected: 'a connection', actual });
    this.wasSilent = wasSilent;
  }
}

/** `version`: the only TLS version to offer. */
export async function openConnection(
  address: Endpoints['tcp'],
  setting: ConnectionSetting,
  pacer: Pacer,
  version?: TlsVersion,
): Promise<BrokerConnection> {
  await pacer.turn();
  const opened = await openStream(address, setting, version).catch((error: ConnectionNotAccepted) => error);
  const isError = opened instanceof ConnectionNotAccepted;
  const isRefused = isError ? opened.wasSilent : await isClosedSilently(opened.resettable, pacer);
  if (!isRefused || pacer.mayBeRefused?.() !== true) {
    if (isError) throw opened;
    return new BrokerConnection(opened, setting);
  }
  pacer.refused?.();
  return openConnection(address, setting, pacer, version);
}

async function openStream(
  { tls: trust, ...address }: Endpoints['tcp'],
  { evidence, timing, trace, name, now }: ConnectionSetting,
  version: TlsVersion | undefined,
): Promise<NewStream> {
  const withinMs = timing.connectMs;
  evidence.addWait(withinMs);
  const tcp = await openSocket(address, withinMs);
  if (trust === undefined) {
    trace.add({ atMs: now(), connection: name, kind: 'opened', text: 'connected' });
    return { socket: tcp, resettable: tcp };
  }
  const options = { trust, host: address.host, version, withinMs };
  const socket = await secureSocket(tcp, options).catch((error: Error) => {
    const wasSilent = tcp.bytesRead === 0;
    // A rate limit of the broker may be the reason, which is looked for in the trace.
    if (wasSilent) {
      trace.add({ atMs: now(), connection: name, kind: 'opened', text: 'connected' });
      trace.add({ atMs: now(), connection: name, kind: 'closed', text: error.message });
    }
    throw new ConnectionNotAccepted(error.message, { wasSilent });
  });
  const text = `connected with ${socket.getProtocol()}`;
  trace.add({ atMs: now(), connection: name, kind: 'opened', text });
  return { socket, resettable: tcp };
}

/** A broker closes a connection over its rate limit within this time. It has no other reason to close a connection before the first frame. */
const maxRefusalDelayMs = 60;

async function isClosedSilently(socket: Socket, pacer: Pacer): Promise<boolean> {
  if (pacer.mayBeRefused?.() !== true) return false;
  return closesSilently(socket, maxRefusalDelayMs);
}

/** The end of a connection over the rate limit of a distant or busy broker comes within this time. */
const maxAskedDelayMs = 500;

/** Opens one connection and sends nothing. True if the broker accepts it, sends nothing and closes it: it is over a rate limit. */
export async function refusesConnections({ host, port }: Endpoints['tcp'], timing: Timing): Promise<boolean> {
  const socket = await openSocket({ host, port }, timing.connectMs).catch(() => undefined);
  if (socket === undefined) return false;
  socket.on('error', () => {}).resume();
  const isRefused = await closesSilently(socket, maxAskedDelayMs);
  socket.destroy();
  return isRefused;
}

async function closesSilently(socket: Socket, withinMs: number): Promise<boolean> {
  const isClosed = await new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => resolve(false), withinMs);
    socket.once('close', () => {
      clearTimeout(timer);
      resolve(true);
    });
  });
  return isClosed && socket.bytesRead === 0;
}

function openSocket({ host, port }: Endpoints['tcp'], withinMs: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    const fail = (actual: string): void => {
      socket.destroy();
      reject(new ConnectionNotAccepted(actual));
    };
    const timer = setTimeout(() => fail(`no connection within ${withinMs} ms`), withinMs);
    const refuse = (error: Error): void => {
      clearTimeout(timer);
      fail(error.message);
    };
    socket.once('error', refuse);
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.off('error', refuse);
      resolve(socket);
    });
  });
}
