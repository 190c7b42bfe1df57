// A publisher that makes all frames beforehand and only counts the bytes of the answers: what no client can be faster than.

import { once } from 'node:events';
import type { Socket } from 'node:net';
import { bodyBytes, frameBytes } from '../wire-bytes.ts';

export type BareLoopOptions = {
  readonly socket: Socket;
  readonly queue: string;
  readonly payload: Buffer;
  readonly count: number;
  /** Publishes under way at a time. */
  readonly window: number;
};

const PUBLISH = 20;
const PUBLISH_ACK = 21;
const DELETE_QUEUE = 41;
/** Frames in one write. */
const BATCH_COUNT = 64;

/** Resolves when all publishes are confirmed and the queue is deleted. All have the same id, which the skeleton does not compare. */
export async function runBareLoop({ socket, queue, payload, count, window }: BareLoopOptions): Promise<void> {
  const id = '00000000-0000-0000-0000-000000000000';
  const frame = frameBytes(bodyBytes({ command: PUBLISH, id, queue, payload }));
  const batch = Buffer.concat(Array.from({ length: BATCH_COUNT }, () => frame));
  const answerBytes = frameBytes(bodyBytes({ command: PUBLISH_ACK, id, queue })).length;
  let sentCount = 0;
  let receivedBytes = 0;
  await new Promise<void>((resolve) => {
    const fill = () => {
      const confirmedCount = Math.floor(receivedBytes / answerBytes);
      for (
        ;
        sentCount < count && sentCount - confirmedCount + BATCH_COUNT <= window;
        sentCount += BATCH_COUNT
      )
        socket.write(batch);
      if (confirmedCount >= count) resolve();
    };
    socket.on('data', (chunk: Buffer) => {
      receivedBytes += chunk.length;
      fill();
    });
    fill();
  });
  socket.removeAllListeners('data');
  socket.write(frameBytes(bodyBytes({ command: DELETE_QUEUE, id, queue })));
  await once(socket, 'data');
}
