// Batches of records as a broker could write them: queues come and go, messages enter with rising sequences, fail, move to a dead letter
// queue and leave. The same seed gives the same batches.

import type { StoredMessage, StoreRecord } from '../../broker/interface/store-record.ts';
import { defaultQueueOptions } from '../../model/queue-options.ts';
import { contentOf } from './message-contents.ts';

const MAX_BATCHES = 12;
const MAX_RECORDS = 12;
const MAX_CONTENT_BYTES = 40;

type Choice = { readonly what: number; readonly which: number; readonly bytes: Uint8Array };

/** A whole number from 0 on, below the bound. */
type Random = (bound: number) => number;

/** Up to 12 batches of up to 12 records each, in the order in which they are to be committed. */
export function randomBatches(seed: number): readonly (readonly StoreRecord[])[] {
  const random = randomFrom(seed);
  const world = new World();
  const newRecord = () => world.record(randomChoice(random));
  return Array.from({ length: 1 + random(MAX_BATCHES) }, () =>
    Array.from({ length: 1 + random(MAX_RECORDS) }, newRecord),
  );
}

function randomChoice(random: Random): Choice {
  const bytes = Uint8Array.from({ length: random(MAX_CONTENT_BYTES + 1) }, () => random(256));
  return { what: random(100), which: random(1_001), bytes: random(2) === 0 ? bytes : Buffer.from(bytes) };
}

/** The generator called mulberry32: small, and good enough to choose cases. */
function randomFrom(seed: number): Random {
  let state = seed | 0;
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound);
  };
}

class World {
  #lastGeneration = 0;
  #lastSequence = 0;
  readonly #queues = new Map<number, Map<number, { stored: StoredMessage; failedAttempts: number }>>();

  record(chosen: Choice): StoreRecord {
    const generation = pick([...this.#queues.keys()], chosen.which);
    if (generation === undefined || chosen.what < 8) return this.#create();
    if (chosen.what < 12) return this.#end(generation);
    const messages = this.#queues.get(generation) ?? new Map();
    const sequence = pick([...messages.keys()], chosen.which);
    if (sequence === undefined || chosen.what < 55) return this.#add(generation, chosen);
    if (chosen.what < 70) return this.#fail(generation, sequence);
    if (chosen.what < 85) return this.#deadLetter(generation, sequence, chosen);
    messages.delete(sequence);
    return { kind: 'messageRemoved', generation, sequence };
  }

  #create(): StoreRecord {
    const generation = ++this.#lastGeneration;
    this.#queues.set(generation, new Map());
    const options = { ...defaultQueueOptions, maxQueueSize: generation, messageTtlMs: 500.5 };
    return { kind: 'queueCreated', generation, name: `q-ä-${generation}`, options, createdWallAt: 1_000 };
  }

  #end(generation: number): StoreRecord {
    this.#queues.delete(generation);
    return { kind: 'queueDeleted', generation };
  }

  #add(generation: number, chosen: Choice): StoreRecord {
    const stored = this.#newMessage(generation, chosen);
    this.#queues.get(generation)?.set(stored.sequence, { stored, failedAttempts: 0 });
    return { kind: 'messageAdded', ...stored };
  }

  #newMessage(generation: number, { bytes, which }: Choice): StoredMessage {
    this.#lastSequence += 1 + (which % 3);
    const sequence = this.#lastSequence;
    const priority = ([0, 1, 2, 3] as const)[which % 4] ?? 1;
    const content = contentOf(bytes);
    return { generation, sequence, id: `m ${which}`, priority, content, acceptedWallAt: 1_000 + which };
  }

  #fail(generation: number, sequence: number): StoreRecord {
    const message = this.#queues.get(generation)?.get(sequence);
    if (message === undefined) throw new Error('A message was picked that is not there.');
    message.failedAttempts += 1;
    return { kind: 'attemptFailed', generation, sequence, failedAttempts: message.failedAttempts };
  }

  #deadLetter(generation: number, sequence: number, chosen: Choice): StoreRecord {
    this.#queues.get(generation)?.delete(sequence);
    const target = pick([...this.#queues.keys()], chosen.which + 1) ?? generation;
    const facts = { reason: 'MessageExpired', source: 'q', attempts: 2, deadLetteredWallAt: 5_000 } as const;
    const to = { ...this.#newMessage(target, chosen), deadLetter: facts };
    this.#queues.get(target)?.set(to.sequence, { stored: to, failedAttempts: 0 });
    return { kind: 'deadLettered', from: { generation, sequence }, to };
  }
}

function pick<Item>(items: readonly Item[], which: number): Item | undefined {
  return items[which % items.length];
}
