// Any history that a lawful broker can leave is clean; one corruption of it is found, as what it is. The broker here is a few lists.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { account } from './accountant.ts';
import type { HistoryRules, Operation } from './operation.ts';

const queue = 'orders';
const rules: HistoryRules = { queues: {}, drained: [queue], ackTimeoutMs: 30_000, durable: true };
const subscribers = ['S', 'T', 'U'] as const;
type Subscriber = (typeof subscribers)[number];

const commands = fc.array(
  fc.oneof(
    fc.record({
      do: fc.constant('publish' as const),
      answer: fc.constantFrom('published', 'refused', 'none'),
    }),
    fc.record({ do: fc.constantFrom('arrive', 'leave', 'ack', 'refuse', 'ping'), who: fc.nat(2) }),
  ),
  { minLength: 1, maxLength: 60 },
);
type Commands = ReturnType<typeof commands.generate>['value'];

type Step = Operation extends infer Each ? (Each extends Operation ? Omit<Each, 'atMs'> : never) : never;

/** A broker of one RoundRobin queue without a limit of time; it writes the history of what is done to it. */
class LawfulBroker {
  readonly operations: Operation[] = [];
  #waiting: string[] = [];
  readonly #held = new Map<string, string[]>();
  #turn = 0;
  #count = 0;

  carryOut(all: Commands): readonly Operation[] {
    for (const command of all) {
      if (command.do === 'publish') this.#publish(command.answer);
      else this.#subscriber(command.do, `${subscribers[command.who]}` as Subscriber);
    }
    this.#drain();
    return this.operations;
  }

  #note(step: Step): void {
    this.operations.push({ ...step, atMs: this.operations.length } as Operation);
  }

  #publish(answer: string): void {
    this.#count += 1;
    const id = `m${this.#count}`;
    const connection = answer === 'none' ? `P${this.#count}` : 'P';
    this.#note({ kind: 'publish', connection, queue, id, content: `content of ${id}` });
    if (answer === 'refused') {
      this.#note({ kind: 'refused', connection, queue, id, code: 'QUEUE_FULL' });
      return;
    }
    if (answer === 'none') this.#note({ kind: 'closed', connection, byRunner: true });
    else this.#note({ kind: 'published', connection, queue, id });
    if (answer === 'none' && this.#count % 2 === 0) return;
    this.#waiting.push(id);
    this.#deliver();
  }

  #subscriber(action: string, name: Subscriber): void {
    const connection = this.#current(name);
    const held = this.#held.get(connection);
    if (action === 'arrive' && held === undefined) this.#arrive(connection);
    if (held === undefined) return;
    if (action === 'leave') this.#leave(connection, held);
    if (action === 'ping') this.#note({ kind: 'synchronised', connection, upTo: this.operations.length });
    const [id] = held;
    if (id === undefined || (action !== 'ack' && action !== 'refuse')) return;
    held.shift();
    const negative = action === 'refuse' ? ({ negative: true } as const) : {};
    this.#note({ kind: 'ack', connection, id, ...negative });
    if (action === 'refuse') this.#waiting.push(id);
    this.#deliver();
  }

  /** A subscriber that comes back has a new connection. */
  #current(name: Subscriber): string {
    const past = this.operations.filter(
      ({ kind, connection }) => kind === 'closed' && connection.startsWith(name),
    );
    return `${name}${past.length}`;
  }

  #arrive(connection: string): void {
    this.#held.set(connection, []);
    this.#note({ kind: 'subscribe', connection, queue });
    this.#note({ kind: 'subscribed', connection, queue });
    this.#deliver();
  }

  #leave(connection: string, held: readonly string[]): void {
    this.#note({ kind: 'closed', connection, byRunner: true });
    this.#held.delete(connection);
    this.#waiting.unshift(...held);
    this.#deliver();
  }

  #deliver(): void {
    const ready = [...this.#held].filter(([, held]) => held.length < 3);
    const [connection, held] = ready[this.#turn % Math.max(1, ready.length)] ?? [];
    if (connection === undefined || held === undefined) return;
    const id = this.#waiting.shift();
    if (id === undefined) return;
    this.#turn += 1;
    held.push(id);
    this.#note({ kind: 'delivered', connection, queue, id, content: `content of ${id}` });
    this.#deliver();
  }

  #drain(): void {
    if (this.#held.size === 0) this.#subscriber('arrive', 'S');
    while ([...this.#held.values()].some((held) => held.length > 0)) {
      for (const connection of [...this.#held.keys()]) {
        this.#subscriber('ack', connection.slice(0, 1) as Subscriber);
        this.#note({ kind: 'synchronised', connection, upTo: this.operations.length });
      }
    }
  }
}

function lawful(all: Commands): readonly Operation[] {
  return new LawfulBroker().carryOut(all);
}

function kinds(operations: readonly Operation[]): readonly string[] {
  return [...new Set(account(operations, rules).findings.map(({ kind }) => kind))];
}

function isDelivery(operation: Operation): operation is Extract<Operation, { kind: 'delivered' }> {
  return operation.kind === 'delivered';
}

/** Its ack was read, for something that was sent later was answered: nothing may bring it back. */
function isSettled(
  all: readonly Operation[],
  { connection, id }: Operation & { readonly id: string },
): boolean {
  const ackAt = all.findLastIndex(
    (one) => one.kind === 'ack' && one.connection === connection && one.id === id && one.negative !== true,
  );
  const isRead = (one: Operation): boolean =>
    one.kind === 'synchronised' && one.connection === connection && one.upTo > ackAt;
  return ackAt >= 0 && all.some(isRead);
}

describe('account', () => {
  it('finds nothing in a lawful history, and its sums agree', () => {
    fc.assert(
      fc.property(commands, (all) => {
        const { counts, findings } = account(lawful(all), rules);
        expect(findings).toEqual([]);
        expect(counts.confirmed + counts.refused + counts.unknown).toBe(counts.attempted);
        expect(counts.ok).toBe(counts.confirmed + counts.recovered);
        expect(counts.outstanding).toBe(0);
      }),
    );
  });

  const corrupted = (
    name: string,
    kind: string,
    corrupt: (all: Operation[], pick: number) => boolean,
  ): void => {
    it(`finds ${name}`, () => {
      fc.assert(
        fc.property(commands, fc.nat(), (all, pick) => {
          const operations = [...lawful(all)];
          fc.pre(corrupt(operations, pick));
          expect(kinds(operations)).toEqual([kind]);
        }),
      );
    });
  };

  const deliveries = (all: readonly Operation[]): readonly number[] =>
    [...all.keys()].filter((at) => all.slice(at, at + 1).some(isDelivery));

  corrupted('a message that is taken out of the history as lost', 'lost', (all, pick) => {
    const confirmed = all.filter(({ kind }) => kind === 'published');
    const victim = confirmed[pick % Math.max(1, confirmed.length)];
    if (victim?.kind !== 'published') return false;
    for (let at = all.length - 1; at >= 0; at -= 1) {
      const operation = all[at];
      const isItsOwn = operation?.kind === 'delivered' || operation?.kind === 'ack';
      if (isItsOwn && operation.id === victim.id) all.splice(at, 1, { ...victim, kind: 'restarted' });
    }
    return true;
  });

  corrupted('a delivery at the end of an acknowledged message as duplicated', 'duplicated', (all, pick) => {
    const settled = all.filter(isDelivery).filter((delivery) => isSettled(all, delivery));
    const delivery = settled[pick % Math.max(1, settled.length)];
    const ended = new Set(all.filter(({ kind }) => kind === 'closed').map(({ connection }) => connection));
    const last = all.findLast(({ kind, connection }) => kind === 'synchronised' && !ended.has(connection));
    if (delivery === undefined || last === undefined) return false;
    all.push({ ...delivery, connection: last.connection, atMs: all.length });
    return true;
  });

  corrupted('a delivery under another id as unexpected', 'unexpected', (all, pick) => {
    const end = all.findLast(isDelivery);
    if (end === undefined) return false;
    all.push({ ...end, connection: 'X', id: `ghost${pick}`, atMs: all.length });
    return true;
  });

  corrupted('a payload of another message as unexpected', 'unexpected', (all, pick) => {
    const at = deliveries(all);
    const index = at[pick % Math.max(1, at.length)] ?? -1;
    const delivery = all[index];
    if (delivery?.kind !== 'delivered') return false;
    all[index] = { ...delivery, content: 'of somebody else' };
    return true;
  });

  corrupted('a refusal of what was delivered as unexpected', 'unexpected', (all, pick) => {
    const delivered = new Set(all.filter(isDelivery).map(({ id }) => id));
    const confirmed = [...all.keys()].filter((at) => {
      const operation = all[at];
      return operation?.kind === 'published' && delivered.has(operation.id);
    });
    const index = confirmed[pick % Math.max(1, confirmed.length)] ?? -1;
    const answer = all[index];
    if (answer?.kind !== 'published') return false;
    all[index] = { ...answer, kind: 'refused', code: 'QUEUE_FULL' };
    return true;
  });
});
