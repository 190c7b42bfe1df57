// One exchange of bytes on its own connection, with TLS if the address says so: sends bytes, and collects the answer until it is complete, the
// other side closes, or the time is over. It does not decode frames, because the doctor uses it to find wrong framing.
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import type { Endpoints } from '../target/target-file.ts';
import { secureSocket } from '../wire/secure-socket.ts';
import { within } from '../within.ts';

export type RawAnswer = {
  readonly bytes: Buffer;
  /** Until the answer was complete, or the end. */
  readonly elapsedMs: number;
  readonly end: 'enough' | 'closed' | 'time over' | 'no connection';
  /** Why there is no connection; undefined when there was one. */
  readonly reason?: string;
};

export type RawQuestion = {
  readonly bytes: Buffer;
  /** Sent some time after the first bytes. */
  readonly then?: { readonly afterMs: number; readonly bytes: Buffer };
  /** Closes the client's side after the last bytes. */
  readonly close?: true;
  readonly withinMs: number;
  readonly isEnough: (bytes: Buffer) => boolean;
};

export async function exchange(tcp: Endpoints['tcp'], question: RawQuestion): Promise<RawAnswer> {
  const startedAt = performance.now();
  const bytes = Buffer.alloc(0);
  try {
    const answer = await ask(await open(tcp, question.withinMs), question);
    return { ...answer, elapsedMs: performance.now() - startedAt };
  } catch (error) {
    const elapsedMs = performance.now() - startedAt;
    return { bytes, elapsedMs, end: 'no connection', reason: (error as Error).message };
  }
}

async function open({ host, port, tls: trust }: Endpoints['tcp'], withinMs: number): Promise<Socket> {
  const socket = connect({ host, port, allowHalfOpen: true });
  socket.setNoDelay(true);
  if (trust !== undefined) return secureSocket(socket, { trust, host, withinMs });
  const opened = new Promise<true>((resolve, reject) => {
    socket.once('connect', () => resolve(true)).once('error', reject);
  });
  if ((await within(opened, withinMs)) === true) return socket;
  socket.destroy();
  throw new Error(`none within ${withinMs} ms`);
}

/** Sends the question on an open connection, which it destroys. */
function ask(socket: Socket, question: RawQuestion): Promise<Pick<RawAnswer, 'bytes' | 'end'>> {
  let bytes = Buffer.alloc(0);
  const timers: NodeJS.Timeout[] = [];
  return new Promise((resolve) => {
    const end = (how: RawAnswer['end']): void => {
      for (const timer of timers) clearTimeout(timer);
      socket.destroy();
      resolve({ bytes, end: how });
    };
    timers.push(setTimeout(() => end('time over'), question.withinMs));
    socket.on('data', (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      if (question.isEnough(bytes)) end('enough');
    });
    socket.on('error', () => end('closed'));
    socket.on('end', () => end('closed'));
    if (question.close === true) socket.end(question.bytes);
    else socket.write(question.bytes);
    const { then } = question;
    if (then !== undefined) timers.push(setTimeout(() => socket.write(then.bytes), then.afterMs));
  });
}
