// Computes bcrypt hashes in threads of their own, one for each call that runs. Not in the thread pool of Node.js: it has four threads by
// default, and compression and files would wait for the passwords of strangers. On Linux, where a thread can have a priority, theirs is low:
// the event loop does not wait for the passwords of strangers either. A thread uses the native package where it runs, else the one
// in JavaScript, which is slower and gives the same hashes. Implements AUTH-012 and AUTH-055.

import { Worker } from 'node:worker_threads';
import type { PasswordHashing } from './password-hashing.ts';

/** What both packages offer. */
type Bcrypt = Pick<typeof import('@node-rs/bcrypt'), 'hashSync' | 'compareSync'> &
  Pick<typeof import('bcryptjs'), 'hashSync' | 'compareSync'>;

type Job = {
  readonly call: 'packageName' | keyof Bcrypt;
  readonly parameters: readonly string[] | readonly [string, number];
};

type Answer = { readonly value: unknown } | { readonly problem: string };

export type BcryptThreadOptions = {
  /** The packages to try, best first. Default: the native one, then the other. */
  readonly packages?: readonly string[];
};

const PACKAGES: readonly string[] = ['@node-rs/bcrypt', 'bcryptjs'];

// A text, because the runtime cannot start a thread from TypeScript. `from` is the file from which the packages are found.
const THREAD = `
  const { parentPort, workerData } = require('node:worker_threads');
  const load = require('node:module').createRequire(workerData.from);
  const problems = [];
  function firstOf(names) {
    for (const name of names) {
      try {
        return { name, bcrypt: load(name) };
      } catch (error) {
        problems.push(name + ': ' + String(error.message).split('\\n')[0]);
      }
    }
    throw new Error('no package for bcrypt is installed and runs here (' + problems.join('; ') + ')');
  }
  // Elsewhere 0 would be the whole process. A sandbox may forbid the call, which costs only the priority.
  if (process.platform === 'linux') {
    const { getPriority, setPriority } = require('node:os');
    try {
      setPriority(0, Math.min(19, getPriority(0) + 5));
    } catch {}
  }
  const { name, bcrypt } = firstOf(workerData.packages);
  parentPort.on('message', ({ call, parameters }) => {
    try {
      parentPort.postMessage({ value: call === 'packageName' ? name : bcrypt[call](...parameters) });
    } catch (error) {
      parentPort.postMessage({ problem: String(error.message) });
    }
  });
`;

export class BcryptThreads implements PasswordHashing {
  readonly #packages: readonly string[];
  readonly #threads = new Set<Thread>();
  readonly #idle: Thread[] = [];
  #isClosed = false;

  constructor({ packages = PACKAGES }: BcryptThreadOptions = {}) {
    this.#packages = packages;
  }

  /** The package in use. Rejects with the reasons if none runs here. */
  async packageName(): Promise<string> {
    return String(await this.#run({ call: 'packageName', parameters: [] }));
  }

  async hash(password: string, cost: number): Promise<string> {
    return String(await this.#run({ call: 'hashSync', parameters: [password, cost] }));
  }

  async verify(password: string, hash: string): Promise<boolean> {
    return (await this.#run({ call: 'compareSync', parameters: [password, hash] })) === true;
  }

  /** Resolves when all threads have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#threads].map((thread) => thread.end()));
  }

  async #run(job: Job): Promise<unknown> {
    if (this.#isClosed) throw new Error('the password checks have ended');
    const thread = this.#idle.pop() ?? this.#newThread();
    const answer = await thread.run(job);
    this.#idle.push(thread);
    if ('problem' in answer) throw new Error(answer.problem);
    return answer.value;
  }

  #newThread(): Thread {
    const thread = new Thread(this.#packages, () => this.#forget(thread));
    this.#threads.add(thread);
    return thread;
  }

  #forget(thread: Thread): void {
    this.#threads.delete(thread);
    const index = this.#idle.indexOf(thread);
    if (index !== -1) this.#idle.splice(index, 1);
  }
}

/** One thread, for one job at a time. While it has none it does not keep the process alive. */
class Thread {
  readonly #worker: Worker;
  #waiting:
    | { readonly resolve: (answer: Answer) => void; readonly reject: (reason: unknown) => void }
    | undefined;

  constructor(packages: readonly string[], onEnd: () => void) {
    const workerData = { from: import.meta.url, packages };
    this.#worker = new Worker(THREAD, { eval: true, workerData, execArgv: [] });
    this.#worker.on('message', (answer: Answer) => this.#take()?.resolve(answer));
    this.#worker.on('error', (error) => this.#take()?.reject(error));
    this.#worker.on('exit', () => {
      onEnd();
      this.#take()?.reject(new Error('the thread of the password check has ended'));
    });
  }

  run(job: Job): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#worker.ref();
      this.#worker.postMessage(job);
    });
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  /** Who waits for the job, which has ended. */
  #take() {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#worker.unref();
    return waiting;
  }
}
