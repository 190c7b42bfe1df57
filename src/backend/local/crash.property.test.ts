// Random schedules of publishes, acks, slow commits, failed commits and crashes, on a disk that loses what was not committed: nothing
// confirmed is lost, nothing is invented, nothing settled comes back. TRUEMQ_RUNS asks for more schedules.

import fc from 'fast-check';
import { it } from 'vitest';
import { CrashLedger } from '../../testing/crash/crash-ledger.ts';
import { LossyDisk } from '../../testing/lossy-disk.ts';
import { runsOf } from '../../testing/property-runs.ts';
import { ack, publish, subscribe } from '../../testing/tested-clients.ts';
import { TestedService } from '../../testing/tested-service.ts';
import type { WireClient } from '../../testing/wire-client.ts';

const runs = Number(process.env['TRUEMQ_RUNS'] ?? runsOf(60));
const QUEUES = ['a', 'b'] as const;

type Move =
  | { readonly kind: 'publish'; readonly queue: (typeof QUEUES)[number]; readonly count: number }
  | { readonly kind: 'take' | 'release' }
  | { readonly kind: 'fail' | 'crash'; readonly isKept: boolean };

const moves: fc.Arbitrary<Move[]> = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('publish' as const),
        queue: fc.constantFrom(...QUEUES),
        count: fc.integer({ min: 1, max: 4 }),
      }),
    },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('take' as const) }) },
    { weight: 8, arbitrary: fc.record({ kind: fc.constant('release' as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('fail' as const), isKept: fc.boolean() }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('crash' as const), isKept: fc.boolean() }) },
  ),
  { minLength: 5, maxLength: 50 },
);

/** A broker with a publisher and a subscriber of every queue, over crashes. */
class Play {
  readonly ledger = new CrashLedger();
  readonly #disk = new LossyDisk();
  #tested = new TestedService(this.#disk);
  #publisher: WireClient | undefined;
  #subscriber: WireClient | undefined;
  /** Delivered and not acknowledged. */
  #held: { readonly id: string; readonly queue: string }[] = [];
  /** Acknowledged, and asked whether that is committed. */
  readonly #asked = new Map<string, readonly string[]>();
  #count = 0;

  async begin(): Promise<void> {
    this.#held = [];
    this.#asked.clear();
    this.#tested = new TestedService(this.#disk);
    await this.#tested.service.start();
    await this.#meet();
  }

  async play(move: Move): Promise<void> {
    switch (move.kind) {
      case 'publish':
        this.#publish(move.queue, move.count);
        break;
      case 'take':
        this.#acknowledge();
        break;
      case 'release':
        this.#disk.release();
        break;
      case 'fail':
        return this.#fail(move.isKept);
      case 'crash':
        this.#disk.crash(move.isKept);
        return this.begin();
    }
    await this.#tested.settle();
    this.#listen();
  }

  /** Everything comes to its end. */
  async finish(): Promise<readonly string[]> {
    for (let round = 0; round < 100; round += 1) {
      this.#acknowledge();
      await this.#tested.settle();
      this.#disk.release();
      await this.#tested.settle();
      this.#listen();
      const { queuedBytes } = this.#tested.service.stats();
      if (queuedBytes === 0 && !this.#disk.isCommitting) return this.ledger.problems();
    }
    return ['the broker does not come to its end'];
  }

  async #meet(): Promise<void> {
    this.#publisher = await this.#tested.connect();
    this.#subscriber = await this.#tested.connect();
    for (const queue of QUEUES) this.#subscriber.send(subscribe(queue));
    await this.#tested.settle();
  }

  #publish(queue: string, count: number): void {
    for (let left = count; left > 0; left -= 1) {
      this.#count += 1;
      const id = `m${this.#count}`;
      this.ledger.published(id);
      this.#publisher?.send(publish(queue, id));
    }
  }

  /** Acknowledges what was delivered, and asks something whose answer comes after the acks are committed. */
  #acknowledge(): void {
    if (this.#held.length === 0) return;
    this.#count += 1;
    const question = `asked${this.#count}`;
    for (const { id, queue } of this.#held) {
      this.ledger.taken(id, queue);
      this.#subscriber?.send(ack(id));
    }
    this.#asked.set(
      question,
      this.#held.map(({ id }) => id),
    );
    this.#held = [];
    this.#subscriber?.send({ command: 43, id: question });
  }

  #listen(): void {
    for (const line of this.#publisher?.lines() ?? []) {
      const [word, id] = line.split(' ');
      if (word === 'PublishAck') this.ledger.confirmed(id ?? '');
    }
    for (const line of this.#subscriber?.lines() ?? []) {
      const [word, id = '', queue = ''] = line.split(' ');
      if (word === 'Deliver') this.#held.push({ id, queue });
      if (word === 'ListQueues') this.ledger.settled(this.#asked.get(id) ?? []);
    }
  }

  /** All clients get Disconnect; the broker recovers by itself, once a probe of the disk succeeds. */
  async #fail(isKept: boolean): Promise<void> {
    if (!this.#disk.isCommitting) return;
    this.#disk.fail(isKept);
    await this.#tested.settle();
    this.#listen();
    this.#held = [];
    this.#asked.clear();
    for (let tries = 0; !this.#tested.service.readiness().ready; tries += 1) {
      if (tries > 20) throw new Error('The broker does not come back.');
      await this.#tested.advance(10_000);
      this.#disk.release();
      await this.#tested.settle();
    }
    await this.#meet();
  }
}

it('a broker loses nothing that it has confirmed, whenever it crashes [DURABLE-003, DURABLE-004, DURABLE-006, DURABLE-021]', async () => {
  const property = fc.asyncProperty(moves, async (schedule) => {
    const play = new Play();
    await play.begin();
    for (const move of schedule) await play.play(move);
    const problems = await play.finish();
    if (problems.length > 0) throw new Error(problems.join('\n'));
  });
  await fc.assert(property, { numRuns: runs });
});
