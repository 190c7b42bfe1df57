// Inflates large bodies in one thread of its own, one after the other. Not in the thread pool of Node.js: its threads compete with the event
// loop for the processors, and each piece of 16 KiB costs the event loop a callback. On Linux, where a thread can have a priority, this one
// has a low priority, so that compressed bodies slow down nobody but those who send them. Serves CONN-021.

import { Worker } from 'node:worker_threads';
import type { Algorithm } from '../protocol/compression.ts';
import type { Inflated } from './inflated.ts';

type Job = {
  readonly algorithm: Algorithm;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly limitBytes: number;
};

type Answer = { readonly bytes: Uint8Array; readonly usedBytes: number } | { readonly code: unknown };

type Waiting = {
  readonly resolve: (inflated: Inflated) => void;
  readonly reject: (reason: unknown) => void;
};

// A text, because the runtime cannot start a thread from TypeScript.
const THREAD = `
  const { getPriority, setPriority } = require('node:os');
  const { parentPort } = require('node:worker_threads');
  const { brotliDecompressSync, gunzipSync } = require('node:zlib');
  const inflate = { brotli: brotliDecompressSync, gzip: gunzipSync };
  // Elsewhere 0 would be the whole process. A sandbox may forbid the call, which costs only the priority.
  if (process.platform === 'linux') {
    try {
      setPriority(0, Math.min(19, getPriority(0) + 10));
    } catch {}
  }
  parentPort.on('message', ({ algorithm, bytes, limitBytes }) => {
    try {
      const options = { maxOutputLength: limitBytes, info: true, chunkSize: 65536 };
      const { buffer, engine } = inflate[algorithm](bytes, options);
      // Memory that it shares with other buffers cannot be transferred.
      const output = buffer.length === buffer.buffer.byteLength ? buffer : new Uint8Array(buffer);
      parentPort.postMessage({ bytes: output, usedBytes: engine.bytesWritten }, [output.buffer]);
    } catch (error) {
      parentPort.postMessage({ code: error.code });
    }
  });
`;

const ENDED = 'the thread that decompresses has ended';

export class InflationThread {
  #worker: Worker | undefined;
  /** In the order of the jobs. */
  readonly #waiting: Waiting[] = [];
  #isClosed = false;

  /**
   * Resolves with the output and the count of used bytes of input. Rejects with an error that has a code of node:zlib when the body does not
   * decompress (`ERR_BUFFER_TOO_LARGE`: to more than `limitBytes`), and with one without a code when the thread has ended; the next call
   * starts another one unless `close` was called.
   */
  inflate(algorithm: Algorithm, body: Buffer, limitBytes: number): Promise<Inflated> {
    if (this.#isClosed) return Promise.reject(new Error(ENDED));
    // A copy, whose memory the thread takes over: the body is a part of what was received.
    const bytes = new Uint8Array(body);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#post({ algorithm, bytes, limitBytes });
    });
  }

  /** Resolves when the thread has ended. What waits for it is rejected. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#worker?.terminate();
  }

  #post(job: Job): void {
    this.#worker ??= this.#newWorker();
    // While it has nothing to do it does not keep the process alive.
    this.#worker.ref();
    this.#worker.postMessage(job, [job.bytes.buffer]);
  }

  #newWorker(): Worker {
    const worker = new Worker(THREAD, { eval: true, execArgv: [] });
    let failure: unknown = new Error(ENDED);
    worker.on('message', (answer: Answer) => this.#settle(worker, answer));
    worker.on('error', (error) => {
      failure = error;
    });
    worker.on('exit', () => {
      this.#worker = undefined;
      for (const { reject } of this.#waiting.splice(0)) reject(failure);
    });
    return worker;
  }

  #settle(worker: Worker, answer: Answer): void {
    const waiting = this.#waiting.shift();
    if (this.#waiting.length === 0) worker.unref();
    if ('bytes' in answer) {
      const { buffer, byteOffset, length } = answer.bytes;
      const output = Buffer.from(buffer as ArrayBuffer, byteOffset, length);
      waiting?.resolve({ buffer: output, engine: { bytesWritten: answer.usedBytes } });
    } else waiting?.reject(Object.assign(new Error('the body does not decompress'), { code: answer.code }));
  }
}
