// Publishers and subscribers that send load to several queues without a pause while the check stops or kills the broker. They follow the
// protocol and judge nothing: the history of the check records what happened. Areas: DURABLE, SHUTDOWN.
import type { CheckContext } from '../../check.ts';
import type { Connection } from '../../connection.ts';
import { Command } from '../../wire/command.ts';
import { newSubscriber } from './queue-with-subscribers.ts';

const publisherCount = 2;
/** Maximum number of unanswered publishes of a publisher. */
const maxUnanswered = 8;

/** Load that runs until its connections end. */
export type CrashLoad = {
  /**
   * Resolves when this many publishes are confirmed, or when every connection has ended; rejects when a publisher or a subscriber fails.
   */
  waitForConfirmed(count: number): Promise<void>;
  /** Stops publishing. The publishers still wait for the answers to what they have sent. */
  stopPublishing(): void;
  /** Resolves when every connection of the load has ended. */
  readonly ended: Promise<void>;
};

export type CrashLoadSetting = {
  readonly queues: readonly string[];
  /** Queues that the load publishes to but does not subscribe to. */
  readonly withoutSubscriber?: readonly string[];
  /** Subscribers leave some of their deliveries unacknowledged. */
  readonly skipsAcks: boolean;
};

/** Starts two publishers, which publish to the queues in turn, and one subscriber for each queue of `queues`. */
export async function startCrashLoad(ctx: CheckContext, setting: CrashLoadSetting): Promise<CrashLoad> {
  const { queues, withoutSubscriber = [], skipsAcks } = setting;
  const progress = new PublishProgress();
  const subscribers = await Promise.all(queues.map((queue) => newSubscriber(ctx, queue)));
  const publishers = await Promise.all(
    Array.from({ length: publisherCount }, () => ctx.connect({ own: true })),
  );
  const target = { queues: [...queues, ...withoutSubscriber], progress };
  const ended = Promise.all([
    ...publishers.map((publisher) => publishUntilEnd(ctx, publisher, target)),
    ...subscribers.map((subscriber) => acknowledgeUntilEnd(ctx, subscriber, skipsAcks)),
  ]).then(() => progress.close());
  // A failure rejects `waitForConfirmed` too, so that no check waits for confirmations that cannot arrive.
  ended.catch((failure: unknown) => progress.fail(failure));
  return {
    waitForConfirmed: (count) => progress.waitForConfirmed(count),
    stopPublishing: () => progress.stopPublishing(),
    ended,
  };
}

type PublishTarget = { readonly queues: readonly string[]; readonly progress: PublishProgress };

/** Publishes until the connection ends, the broker refuses a Publish, or `stopPublishing` is called. */
async function publishUntilEnd(
  ctx: CheckContext,
  publisher: Connection,
  { queues, progress }: PublishTarget,
): Promise<void> {
  const unanswered: string[] = [];
  let isRefused = false;
  for (let turn = 0; !progress.isPublishingStopped && !isRefused; turn += 1) {
    const id = ctx.id('m');
    const queue = queues[turn % queues.length] ?? '';
    unanswered.push(id);
    await publisher.send({ command: Command.Publish, id, queue, payload: JSON.stringify({ of: id }) });
    if (unanswered.length < maxUnanswered) continue;
    const answer = await answerTo(publisher, unanswered.shift() ?? '');
    if (answer === 'none') return;
    isRefused = answer === 'refused';
    if (!isRefused) progress.addConfirmed();
  }
  while (unanswered.length > 0 && (await answerTo(publisher, unanswered.shift() ?? '')) !== 'none');
  await publisher.end();
}

/** `none`: the connection ended before the answer arrived. */
async function answerTo(publisher: Connection, id: string): Promise<'confirmed' | 'refused' | 'none'> {
  const answer = await publisher.expectOrClosed({ command: ['PublishAck', 'Error'], id });
  if (typeof answer === 'string') return 'none';
  return answer.command === Command.PublishAck ? 'confirmed' : 'refused';
}

/** Acknowledges deliveries until the connection ends. With `skipsAcks` it leaves about one in eight unacknowledged. */
async function acknowledgeUntilEnd(
  ctx: CheckContext,
  subscriber: Connection,
  skipsAcks: boolean,
): Promise<void> {
  for (;;) {
    const delivery = await subscriber.expectOrClosed('Deliver', { withinMs: ctx.timing.stopMs });
    if (typeof delivery === 'string') return;
    if (!skipsAcks || ctx.random.integer(0, 7) > 0) await subscriber.ack(delivery);
  }
}

/** Counts the confirmed publishes and resolves the wait for a number of them. */
class PublishProgress {
  #confirmedCount = 0;
  #isClosed = false;
  #isPublishingStopped = false;
  #wantedCount = Number.POSITIVE_INFINITY;
  #failure: Promise<never> | undefined;
  #resolveWait: (failure?: Promise<never>) => void = () => {};

  addConfirmed(): void {
    this.#confirmedCount += 1;
    if (this.#confirmedCount >= this.#wantedCount) this.#resolveWait();
  }

  stopPublishing(): void {
    this.#isPublishingStopped = true;
  }

  get isPublishingStopped(): boolean {
    return this.#isPublishingStopped;
  }

  /** Every connection has ended: no more confirmations can arrive. */
  close(): void {
    this.#isClosed = true;
    this.#resolveWait();
  }

  fail(failure: unknown): void {
    this.#failure = Promise.reject(failure);
    this.#failure.catch(() => {});
    this.#resolveWait(this.#failure);
  }

  waitForConfirmed(count: number): Promise<void> {
    if (this.#failure !== undefined) return this.#failure;
    if (this.#isClosed || this.#confirmedCount >= count) return Promise.resolve();
    this.#wantedCount = count;
    return new Promise((resolve) => {
      this.#resolveWait = resolve;
    });
  }
}
