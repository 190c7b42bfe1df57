// The connections of a check on a broker that counts them. A check must not wait for its turn to connect while it holds deliveries:
// the broker's ack timeout would run out, and the broker would be blamed for the runner's pace. So a check gets what it is known to
// need before it begins. When it needs more than can be had at once, its run is abandoned and begins anew, with more kept ready for it.
// Areas: LIMIT (connections by address), DELIVERY (ack timeout).
import type { BrokerConnection } from '../wire/broker-connection.ts';
import type { Pacer, Turn } from './pacer.ts';
import { watchedPacer } from './pacer.ts';
import type { SpareConnections } from './spare-connections.ts';

/** How many connections: those that any check may use, and those that must be the check's own. */
export type ConnectionNeed = {
  readonly shared: number;
  readonly own: number;
  /** What cannot be had at once is waited for. */
  readonly mayWait?: boolean;
};

type Kind = 'shared' | 'own';

export type SupplySetting = {
  readonly pacer: Pacer;
  /** Absent where connections are not passed on from one check to another. */
  readonly spares: SpareConnections | undefined;
};

/** Makes a connection with its handshake done, opened when its turn has come. */
export type OpenAhead = () => Promise<BrokerConnection>;

export class ConnectionSupply {
  readonly #setting: SupplySetting;
  #tail: Promise<unknown> = Promise.resolve();

  constructor(setting: SupplySetting) {
    this.#setting = setting;
  }

  /** Waits until as many connections are ready, one asker after another. */
  reserve(need: ConnectionNeed, open: OpenAhead): Promise<CheckConnections> {
    const { pacer } = this.#setting;
    const isLimited = pacer.reserve !== undefined;
    if (!isLimited)
      return Promise.resolve(new CheckConnections(this.#setting, { need, connections: [], turns: [] }));
    const gathered = this.#tail.then(() => this.#gather(need, open));
    this.#tail = gathered.catch(() => undefined);
    return gathered;
  }

  async #gather(need: ConnectionNeed, open: OpenAhead): Promise<CheckConnections> {
    const { pacer } = this.#setting;
    const connections: BrokerConnection[] = [];
    const turns: Turn[] = [];
    while (connections.length < need.shared) {
      const connection = await this.#oneOf(open);
      // A broker that takes none is for the check to judge.
      if (connection === undefined) break;
      connections.push(connection);
    }
    // Kept turns are free for nobody else, so they come last.
    while (turns.length < Math.min(need.own, pacer.capacity ?? 0)) {
      const turn = pacer.reserve?.();
      if (turn === undefined) await pacer.freed?.().done;
      else turns.push(turn);
    }
    return new CheckConnections(this.#setting, { need, connections, turns });
  }

  /** A spare connection, or a new one: whichever can be had first. */
  async #oneOf(open: OpenAhead): Promise<BrokerConnection | undefined> {
    const { pacer, spares } = this.#setting;
    for (;;) {
      const spare = await spares?.take();
      if (spare !== undefined) return spare;
      const turn = pacer.reserve?.();
      if (turn !== undefined) {
        turn.giveBack();
        return open().catch(() => undefined);
      }
      const freed = pacer.freed?.();
      await Promise.race([freed?.done, spares?.freed() ?? new Promise<void>(() => {})]);
      freed?.cancel();
    }
  }
}

type Ready = {
  readonly need: ConnectionNeed;
  readonly connections: BrokerConnection[];
  readonly turns: Turn[];
};

/** What one run of a check may use. */
export class CheckConnections {
  readonly #spares: SpareConnections | undefined;
  readonly #pacer: ReturnType<typeof watchedPacer>;
  readonly #ready: Ready;
  readonly #asked = { shared: 0, own: 0 };
  #shortOf: Kind | undefined;
  #hasEnded = false;

  constructor({ pacer, spares }: SupplySetting, ready: Ready) {
    this.#spares = spares;
    this.#pacer = watchedPacer(pacer);
    this.#ready = ready;
  }

  /** It asked for a connection that could not be had at once: what came of this run shows nothing. */
  get isShort(): boolean {
    return this.#shortOf !== undefined;
  }

  /** What to keep ready for the next run of the check: some more than it asked for, so that a few runs will do. */
  get nextNeed(): ConnectionNeed {
    const { shared, own } = this.#asked;
    return this.#shortOf === 'own' ? { shared, own: withMore(own) } : { shared: withMore(shared), own };
  }

  /** Milliseconds during which the check has been waiting for turns. */
  waitedMs(): number {
    return this.#pacer.waitedMs();
  }

  /** A connection with its handshake done; undefined when one has to be opened, with the pacer for `shared`. */
  async take(): Promise<BrokerConnection | undefined> {
    this.#asked.shared += 1;
    const ready = this.#ready.connections.pop();
    if (ready?.isClosed === false) return ready;
    return this.#spares?.take();
  }

  /** Gives the turns for connections that the check opens. */
  pacer(kind: Kind): Pacer {
    return { ...this.#pacer, turn: () => this.#turn(kind) };
  }

  /** Gives back what was not used; the check gets nothing any more. */
  end(): void {
    this.#hasEnded = true;
    for (const turn of this.#ready.turns) turn.giveBack();
    for (const connection of this.#ready.connections) {
      if (this.#spares === undefined) connection.destroy();
      else this.#spares.add(connection);
    }
    this.#ready.connections.length = 0;
  }

  async #turn(kind: Kind): Promise<void> {
    if (this.#hasEnded) throw new Error('the check has ended');
    if (kind === 'own') this.#asked.own += 1;
    if (this.#pacer.reserve === undefined) return this.#pacer.turn();
    const turn = (kind === 'own' ? this.#ready.turns.shift() : undefined) ?? this.#pacer.reserve();
    if (turn !== undefined) return turn.use();
    // More than one window has cannot be kept ready.
    const isTooMany = this.#asked.own > (this.#pacer.capacity ?? 0);
    if (isTooMany || this.#ready.need.mayWait === true) return this.#pacer.turn();
    this.#shortOf = kind;
    throw new Error('no connection can be opened at once');
  }
}

function withMore(count: number): number {
  return count + Math.ceil(count / 2);
}
