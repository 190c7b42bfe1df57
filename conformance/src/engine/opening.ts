// Opens TCP connections to the broker under test, paced and with a deadline. That a broker does not take a connection is its own
// fault, so it is an ExpectationFailure here.
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { ExpectationFailure } from '../expectation.ts';
import type { Endpoints } from '../target/target-file.ts';
import { BrokerConnection } from '../wire/broker-connection.ts';
import type { ConnectionSetting } from '../wire/link.ts';
import type { Pacer } from './pacer.ts';

export async function openConnection(
  address: Endpoints['tcp'],
  setting: ConnectionSetting,
  pacer: Pacer,
): Promise<BrokerConnection> {
  await pacer.turn();
  const socket = await openSocket(address, setting.timing.connectMs);
  setting.trace.add({ atMs: setting.now(), connection: setting.name, kind: 'opened', text: 'connected' });
  return new BrokerConnection(socket, setting);
}

function openSocket({ host, port }: Endpoints['tcp'], withinMs: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    const fail = (actual: string): void => {
      socket.destroy();
      reject(
        new ExpectationFailure('the broker takes a TCP connection', { expected: 'a connection', actual }),
      );
    };
    const timer = setTimeout(() => fail(`none within ${withinMs} ms`), withinMs);
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
