// A client connected to a scripted broker, over a pair of streams. For tests of the client library.

import { duplexPair } from 'node:stream';
import { type Client, type ConnectOptions, connect, type Handler } from '../client/index.ts';
import { type ClientFrame, ScriptedBroker } from './scripted-broker.ts';
import type { Inflate } from './wire-client.ts';

export type ConnectedPair = {
  readonly client: Client;
  readonly broker: ScriptedBroker;
  /** The client's Connect. */
  readonly connectFrame: ClientFrame;
};

export type PairOptions = ConnectOptions & {
  /** Headers of the broker's ConnectAck. */
  readonly welcome?: readonly (readonly [string, string])[];
  readonly inflate?: Inflate;
};

export async function connectPair({
  welcome = [],
  inflate,
  ...options
}: PairOptions = {}): Promise<ConnectedPair> {
  const [near, far] = duplexPair();
  const broker = new ScriptedBroker(far, inflate);
  const connecting = connect({ ...options, stream: near });
  const [client, connectFrame] = await Promise.all([connecting, broker.welcome(welcome)]);
  return { client, broker, connectFrame };
}

/** As {@link connectPair}; then the client subscribes to the queue `orders`. */
export async function connectSubscribed(handler: Handler, options: PairOptions = {}): Promise<ConnectedPair> {
  const pair = await connectPair(options);
  const done = pair.client.subscribe('orders', handler);
  const { id } = await pair.broker.take();
  pair.broker.send({ command: 23, id, queue: 'orders' });
  await done;
  return pair;
}

/** One Ping and its Pong: afterwards all frames sent before have arrived on both sides. */
export async function pingPong({ client, broker }: Pick<ConnectedPair, 'client' | 'broker'>): Promise<void> {
  const pinged = client.ping();
  broker.send({ command: 11, id: (await broker.take()).id });
  await pinged;
}

export function payloadText(frame: ClientFrame): string {
  return Buffer.from(frame.payload).toString();
}
