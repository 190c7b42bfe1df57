// Publishers and subscribers of several queues who work without a pause while their broker is ended, again and again, and come back.
// They keep to the protocol and judge nothing: what happened stands in the history. Areas: DURABLE, SHUTDOWN.
import type { CheckContext } from '../../check.ts';
import type { Connection } from '../../connection.ts';
import { Command } from '../../wire/command.ts';
import { newSubscriber } from './audience.ts';

const publisherCount = 2;
/** Publishes that a publisher has under way. */
const windowCount = 8;

/** Those who work until their connections end. */
export type Shift = {
  /** Resolves when so many publishes were confirmed, or nobody is left to confirm any; rejects when one of the shift failed. */
  confirmed(count: number): Promise<void>;
  /** Nobody publishes anything new; what is under way is awaited. */
  finish(): void;
  /** Resolves when every connection of the shift has ended. */
  readonly ended: Promise<void>;
};

export type ShiftSetting = {
  readonly queues: readonly string[];
  /** Published to like the others, and subscribed by nobody. */
  readonly unserved?: readonly string[];
  /** Subscribers keep a part of what comes, unacknowledged. */
  readonly holding: boolean;
};

/** Two publishers, which take the queues in turn, and one subscriber for each queue that is served. */
export async function startShift(ctx: CheckContext, setting: ShiftSetting): Promise<Shift> {
  const { queues, unserved = [], holding } = setting;
  const board = new Board();
  const subscribers = await Promise.all(queues.map((queue) => newSubscriber(ctx, queue)));
  const publishers = await Promise.all(
    Array.from({ length: publisherCount }, () => ctx.connect({ own: true })),
  );
  const ended = Promise.all([
    ...publishers.map((publisher) => publish(ctx, publisher, { queues: [...queues, ...unserved], board })),
    ...subscribers.map((subscriber) => acknowledge(ctx, subscriber, holding)),
  ]).then(() => board.close());
  // One who was not answered ends the shift for those as well who wait for a number of confirmations.
  ended.catch((failure: unknown) => board.fail(failure));
  return { confirmed: (count) => board.reached(count), finish: () => board.finish(), ended };
}

type Work = { readonly queues: readonly string[]; readonly board: Board };

/** Publishes on and on, until its connection ends, it is refused, or the work is over. */
async function publish(ctx: CheckContext, publisher: Connection, { queues, board }: Work): Promise<void> {
  const open: string[] = [];
  let isRefused = false;
  for (let turn = 0; !board.isFinished && !isRefused; turn += 1) {
    const id = ctx.id('m');
    const queue = queues[turn % queues.length] ?? '';
    open.push(id);
    await publisher.send({ command: Command.Publish, id, queue, payload: JSON.stringify({ of: id }) });
    if (open.length < windowCount) continue;
    const answer = await answerTo(publisher, open.shift() ?? '');
    if (answer === 'none') return;
    isRefused = answer === 'refused';
    if (!isRefused) board.note();
  }
  while (open.length > 0 && (await answerTo(publisher, open.shift() ?? '')) !== 'none');
  await publisher.end();
}

async function answerTo(publisher: Connection, id: string): Promise<'confirmed' | 'refused' | 'none'> {
  const answer = await publisher.expectOrClosed({ command: ['PublishAck', 'Error'], id });
  if (typeof answer === 'string') return 'none';
  return answer.command === Command.PublishAck ? 'confirmed' : 'refused';
}

/** Acknowledges what comes, or most of it: what it keeps comes again after the end. Ends with its connection. */
async function acknowledge(ctx: CheckContext, subscriber: Connection, holding: boolean): Promise<void> {
  for (;;) {
    const delivery = await subscriber.expectOrClosed('Deliver', { withinMs: ctx.timing.stopMs });
    if (typeof delivery === 'string') return;
    if (!holding || ctx.random.integer(0, 7) > 0) await subscriber.ack(delivery);
  }
}

/** Counts what was confirmed, and tells who waits for a number. */
class Board {
  #count = 0;
  #isClosed = false;
  #isFinished = false;
  #wanted = Number.POSITIVE_INFINITY;
  #failure: Promise<never> | undefined;
  #tell: (failure?: Promise<never>) => void = () => {};

  note(): void {
    this.#count += 1;
    if (this.#count >= this.#wanted) this.#tell();
  }

  finish(): void {
    this.#isFinished = true;
  }

  get isFinished(): boolean {
    return this.#isFinished;
  }

  close(): void {
    this.#isClosed = true;
    this.#tell();
  }

  fail(failure: unknown): void {
    this.#failure = Promise.reject(failure);
    this.#failure.catch(() => {});
    this.#tell(this.#failure);
  }

  reached(count: number): Promise<void> {
    if (this.#failure !== undefined) return this.#failure;
    if (this.#isClosed || this.#count >= count) return Promise.resolve();
    this.#wanted = count;
    return new Promise((resolve) => {
      this.#tell = resolve;
    });
  }
}
