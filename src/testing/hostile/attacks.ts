// What hostile clients do. Each attack goes on until its process is ended; it calls `begun` when it is in full swing. `scale` is the part of
// its full strength, 0 to 1, for a short run.

import { setTimeout } from 'node:timers/promises';
import { collidingId } from '../colliding-ids.ts';
import type { HostileSockets } from './hostile-socket.ts';
import { type Login, rightLogin } from './login-flood.ts';
import { bombFrame, connectFrame, frame } from './wire-frames.ts';

export type Attack = {
  /** What it does, for people. */
  readonly title: string;
  readonly run: (sockets: HostileSockets, swing: Swing) => Promise<void>;
  /** The one user of the broker; absent: it asks nobody for credentials. */
  readonly user?: Login;
  /** It judges how long answers take, so it must not wait for the processor itself. */
  readonly judgesTimes?: true;
};

export type Swing = { readonly scale: number; readonly begun: () => void };

const MIB = 1024 * 1024;
/** How long a broker has to create a queue. Its answer is not awaited: the process that the control runs against gives none. */
const CREATED_MS = 500;

export const attacks = {
  'slow-loris': {
    title: '200 clients that send a byte a second',
    run: async (sockets, { scale, begun }) => {
      const greeting = frame({ command: 0, id: 'slow', headers: [['clientVersion', 'v'.repeat(1000)]] });
      const all = await openAll(sockets, 200 * scale);
      begun();
      let at = 0;
      setInterval(() => {
        for (const socket of all) void sockets.send(socket, greeting.subarray(at, at + 1));
        at += 1;
      }, 1000);
      await forEver();
    },
  },
  'half-frames': {
    title: '200 clients that send half a frame of 1 MiB',
    run: async (sockets, { scale, begun }) => {
      const half = frame({
        command: 20,
        id: 'half',
        queue: 'hostile',
        payload: 'x'.repeat(MIB - 100),
      }).subarray(0, MIB / 2);
      for (const socket of await openAll(sockets, 200 * scale)) {
        // Not awaited: the broker may read some of them later than others.
        void sockets.send(socket, Buffer.concat([connectFrame, half]));
      }
      begun();
      await forEver();
    },
  },
  'small-bombs': {
    title: '4 clients that send compressed bodies of 64 MiB',
    run: (sockets, swing) => bombs(sockets, swing, 64 * MIB),
  },
  'large-bombs': {
    title: '4 clients that send compressed bodies of 1 GiB',
    run: (sockets, swing) => bombs(sockets, swing, 1024 * MIB),
  },
  'small-frames-that-grow': {
    title: 'a client that sends frames of 20 bytes that decompress to 1 MiB',
    run: async (sockets, { begun }) => {
      const grows = await bombFrame('brotli', MIB - 1);
      const chunk = Buffer.concat(Array.from({ length: 3000 }, () => grows));
      const [client] = await openAll(sockets, 1, connectFrame);
      if (client === undefined) throw new Error('The broker takes no connection.');
      begun();
      while (!client.destroyed) await sockets.send(client, chunk);
    },
  },
  'huge-lengths': {
    title: '8 clients that announce frames of 4 GiB',
    run: (sockets, { begun }) => again(sockets, 8, begun, [Buffer.from('ffffffff00', 'hex')]),
  },
  'many-connects': {
    title: '10,000 connections',
    run: async (sockets, { scale, begun }) => {
      const sendAll = openAll(sockets, 10_000 * scale, connectFrame);
      begun();
      await sendAll;
      await forEver();
    },
  },
  'never-reads': {
    title: 'a subscriber that never reads, and 16 KiB messages for it as fast as they go',
    run: async (sockets, { begun }) => {
      const [publisher, subscriber] = await openAll(sockets, 2, connectFrame);
      if (publisher === undefined || subscriber === undefined)
        throw new Error('The broker takes no connection.');
      const options = JSON.stringify({ mode: 2, maxQueueSize: 100 });
      subscriber.pause();
      // In this order on one connection, and before any message: else the queue would have the default options, and room for 160 MiB.
      await sockets.send(
        subscriber,
        frame({ command: 40, id: 'create', queue: 'hostile', payload: options }),
      );
      await sockets.send(subscriber, frame({ command: 22, id: 'subscribe', queue: 'hostile' }));
      await setTimeout(CREATED_MS);
      begun();
      const payload = `"${'x'.repeat(16_384)}"`;
      for (let number = 0; !publisher.destroyed; number += 1)
        await sockets.send(publisher, frame({ command: 20, id: `m-${number}`, queue: 'hostile', payload }));
    },
  },
  'never-reads-acks': {
    title: 'a publisher that never reads its answers',
    run: async (sockets, { begun }) => {
      const [publisher] = await openAll(sockets, 1, connectFrame);
      if (publisher === undefined) throw new Error('The broker takes no connection.');
      publisher.pause();
      begun();
      for (let number = 0; !publisher.destroyed; number += 1)
        await sockets.send(
          publisher,
          frame({ command: 20, id: `m-${number}`, queue: 'hostile', payload: '1' }),
        );
      await forEver();
    },
  },
  'garbage-acks': {
    title: '4 clients that acknowledge what was never sent',
    run: (sockets, { begun }) => {
      const acks = Array.from({ length: 500 }, (_, index) =>
        frame({
          command: 30,
          id: `never-${index}`,
          headers: index % 2 === 0 ? [] : [['failureReason', 'HandlerException']],
        }),
      );
      const ping = frame({ command: 10, id: 'ping' });
      return again(sockets, 4, begun, [
        connectFrame,
        ...Array.from({ length: 20 }, () => Buffer.concat([...acks, ping])),
      ]);
    },
  },
  'many-queues': {
    title: 'a publisher that creates 100,000 queues',
    run: async (sockets, { scale, begun }) => {
      const [publisher] = await openAll(sockets, 1, connectFrame);
      if (publisher === undefined) throw new Error('The broker takes no connection.');
      begun();
      for (let number = 0; number < 100_000 * scale; number += 1)
        await sockets.send(
          publisher,
          frame({ command: 20, id: 'm', queue: `hostile.${number}`, payload: '1' }),
        );
      await forEver();
    },
  },
  'colliding-ids': {
    title: 'a publisher whose ids all have the same hash',
    run: async (sockets, { begun }) => {
      const [publisher] = await openAll(sockets, 1, connectFrame);
      if (publisher === undefined) throw new Error('The broker takes no connection.');
      begun();
      const ids = Array.from({ length: 65_536 }, (_, number) => collidingId(number)).filter(isUnicode);
      for (let number = 0; !publisher.destroyed; number += 1)
        await sockets.send(
          publisher,
          frame({ command: 20, id: ids[number % ids.length] ?? '', queue: 'hostile', payload: '1' }),
        );
    },
  },
  'wrong-logins': {
    title: '50 wrong logins a second',
    user: rightLogin,
    judgesTimes: true,
    run: async (sockets, { begun }) => {
      sockets.floodLogins(50);
      begun();
      await forEver();
    },
  },
} as const satisfies Readonly<Record<string, Attack>>;

export type AttackName = keyof typeof attacks;

export const attackNames = Object.keys(attacks) as AttackName[];

export function attackOf(name: AttackName): Attack {
  return attacks[name];
}

async function bombs(sockets: HostileSockets, { begun }: Swing, byteCount: number): Promise<void> {
  const [gzip, brotli] = [await bombFrame('gzip', byteCount), await bombFrame('brotli', byteCount)];
  await Promise.all([
    again(sockets, 2, begun, [connectFrame, gzip]),
    again(sockets, 2, begun, [connectFrame, brotli]),
  ]);
}

/** Several clients that send the same again and again, on a new connection each time. */
async function again(
  sockets: HostileSockets,
  clientCount: number,
  begun: () => void,
  pieces: readonly Buffer[],
): Promise<void> {
  const client = async (): Promise<void> => {
    for (;;) {
      const socket = await sockets.open();
      begun();
      if (socket === undefined) continue;
      for (const piece of pieces) await sockets.send(socket, piece);
      // Ends its side: the broker ends the connection when it has taken everything in, if it has not done so before.
      socket.end();
      await sockets.ended(socket);
    }
  };
  await Promise.all(Array.from({ length: clientCount }, client));
}

const OPEN_AT_A_TIME = 50;

/** The connections that the broker took, each greeted with these bytes. */
async function openAll(sockets: HostileSockets, count: number, greeting?: Buffer) {
  const open = [];
  for (let from = 0; from < count; from += OPEN_AT_A_TIME) {
    const length = Math.min(OPEN_AT_A_TIME, Math.ceil(count - from));
    for (const socket of await Promise.all(Array.from({ length }, () => sockets.open()))) {
      if (socket === undefined) continue;
      if (greeting !== undefined) await sockets.send(socket, greeting);
      open.push(socket);
    }
  }
  return open;
}

/** Whether UTF-8 can hold the text. */
function isUnicode(text: string): boolean {
  return Buffer.from(text).toString() === text;
}

/** The process is ended from outside; its connections keep it alive until then. */
function forEver(): Promise<never> {
  setInterval(() => undefined, 60_000);
  return new Promise(() => undefined);
}
