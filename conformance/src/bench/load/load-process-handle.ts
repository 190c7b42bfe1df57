// A load process as the measuring process sees it: starts it, sends orders, awaits the replies, stops it.
import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { ownProgram } from '../own-program.ts';
import { LoadFault } from './load-fault.ts';
import type { LoadOrder, LoadReply } from './load-orders.ts';
import type { Credit } from './subscriber-group.ts';

type Waiting = { readonly resolve: (reply: LoadReply) => void; readonly reject: (error: Error) => void };

export class LoadProcessHandle {
  readonly #child: ChildProcess;
  readonly #waiting: Waiting[] = [];
  /** Called when the slowest subscriber has received more messages. */
  onCredit: (credit: Credit) => void = () => {};

  constructor() {
    const { file, args, execArgv } = ownProgram('load');
    this.#child = fork(file, args, { execArgv, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    this.#child.on('message', (reply: LoadReply) => this.#handleReply(reply));
    this.#child.on('error', (error) => this.#failAll(error));
    this.#child.on('exit', (code) => this.#failAll(new Error(`a loading process ended (exit code ${code})`)));
  }

  /** Resolves with the reply; rejects with a LoadFault where the target is to blame. */
  ask(order: LoadOrder): Promise<LoadReply> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.tell(order);
    });
  }

  /** For orders that get no reply. */
  tell(order: LoadOrder): void {
    if (this.#child.connected) this.#child.send(order);
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, 'exit');
    if (this.#child.connected) this.#child.disconnect();
    else this.#child.kill('SIGKILL');
    await exit;
  }

  #handleReply(reply: LoadReply): void {
    if (reply.kind === 'credit') return this.onCredit(reply.credit);
    const waiting = this.#waiting.shift();
    if (reply.kind !== 'fault') return waiting?.resolve(reply);
    waiting?.reject(reply.isTargets ? new LoadFault(reply.message) : new Error(reply.message));
  }

  #failAll(error: Error): void {
    for (const waiting of this.#waiting.splice(0)) waiting.reject(error);
  }
}
