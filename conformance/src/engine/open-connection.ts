// Opens TCP connections to the broker under test, at a limited rate and with a deadline. If the broker does not accept a connection, that is
// a ConnectionNotAccepted, an ExpectationFailure.
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { ExpectationFailure } from '../expectation.ts';
import type { Endpoints } from '../target/target-file.ts';
import { BrokerConnection } from '../wire/broker-connection.ts';
import type { ConnectionSetting } from '../wire/link.ts';
import type { Pacer } from './pacer.ts';

/** The broker refused the TCP connection, or did not accept it in time. */
export class ConnectionNotAccepted extends ExpectationFailure {
  constructor(actual: string) {
    super('the broker accepts a TCP connection', { expected: 'a connection', actual });
  }
}

export async function openConnection(
  address: Endpoints['tcp'],
  setting: ConnectionSetting,
  pacer: Pacer,
): Promise<BrokerConnection> {
  await pacer.turn();
  setting.evidence.addWait(setting.timing.connectMs);
  const socket = await openSocket(address, setting.timing.connectMs);
  setting.trace.add({ atMs: setting.now(), connection: setting.name, kind: 'opened', text: 'connected' });
  const connection = new BrokerConnection(socket, setting);
  if (!(await isRefused(socket, pacer))) return connection;
  pacer.refused?.();
  return openConnection(address, setting, pacer);
}

/** A broker closes a connection over its rate limit within this time. It has no other reason to close a connection before the first frame. */
const maxRefusalDelayMs = 60;

async function isRefused(socket: Socket, pacer: Pacer): Promise<boolean> {
  if (pacer.mayBeRefused?.() !== true) return false;
  const isClosed = await new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => resolve(false), maxRefusalDelayMs);
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
