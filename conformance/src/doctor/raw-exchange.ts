// One exchange of bytes on its own connection: sends bytes, and collects the answer until it is complete, the other side closes, or the
// time is over. It does not decode frames, because the doctor uses it to find wrong framing.
import { connect } from 'node:net';
import type { Endpoints } from '../target/target-file.ts';

export type RawAnswer = {
  readonly bytes: Buffer;
  /** Until the answer was complete, or the end. */
  readonly elapsedMs: number;
  readonly end: 'enough' | 'closed' | 'time over' | 'no connection';
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

export function exchange(tcp: Endpoints['tcp'], question: RawQuestion): Promise<RawAnswer> {
  const startedAt = performance.now();
  const socket = connect({ host: tcp.host, port: tcp.port, allowHalfOpen: true });
  socket.setNoDelay(true);
  let received = Buffer.alloc(0);
  let isOpen = false;
  const timers: NodeJS.Timeout[] = [];
  return new Promise((resolve) => {
    const end = (how: RawAnswer['end']): void => {
      for (const timer of timers) clearTimeout(timer);
      socket.destroy();
      resolve({ bytes: received, elapsedMs: performance.now() - startedAt, end: how });
    };
    timers.push(setTimeout(() => end('time over'), question.withinMs));
    socket.on('connect', () => {
      isOpen = true;
      if (question.close === true) socket.end(question.bytes);
      else socket.write(question.bytes);
      const { then } = question;
      if (then !== undefined) timers.push(setTimeout(() => socket.write(then.bytes), then.afterMs));
    });
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (question.isEnough(received)) end('enough');
    });
    socket.on('error', () => end(isOpen ? 'closed' : 'no connection'));
    socket.on('end', () => end('closed'));
  });
}
