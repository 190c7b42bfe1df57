// What the page reports about the user's actions: a line each, the newest last. What was done goes after a while, what failed stays until it is dismissed.

import { Watched } from './watched.ts';

export type Notice = {
  readonly id: number;
  readonly kind: 'done' | 'failed';
  readonly text: string;
};

/** How long what was done stays. */
export const NOTICE_MS = 10_000;
const MAX_NOTICES = 4;

export type Schedule = (callback: () => void, delayMs: number) => () => void;

export class Notices extends Watched<readonly Notice[]> {
  readonly #schedule: Schedule;
  #lastId = 0;

  constructor(schedule: Schedule) {
    super([]);
    this.#schedule = schedule;
  }

  done(text: string): void {
    const id = this.#add('done', text);
    this.#schedule(() => this.dismiss(id), NOTICE_MS);
  }

  failed(text: string): void {
    this.#add('failed', text);
  }

  dismiss(id: number): void {
    this.set(this.value.filter((notice) => notice.id !== id));
  }

  #add(kind: Notice['kind'], text: string): number {
    this.#lastId += 1;
    this.set([...this.value.slice(1 - MAX_NOTICES), { id: this.#lastId, kind, text }]);
    return this.#lastId;
  }
}
