// Batches of records as a core could give them: queues come and go, messages enter with rising sequences, fail, move to a dead
// letter queue and leave. For properties of stores.

import fc from 'fast-check';
import type { StoredMessage, StoreRecord } from '../broker/interface/store-record.ts';
import { defaultQueueOptions } from '../model/queue-options.ts';

type Choice = { readonly what: number; readonly which: number; readonly bytes: Uint8Array };

const choice: fc.Arbitrary<Choice> = fc.record({
  what: fc.integer({ min: 0, max: 99 }),
  which: fc.nat(1_000),
  bytes: fc.uint8Array({ maxLength: 40 }),
});

/** Batches in the order in which they are to be committed. */
export function recordBatches(): fc.Arbitrary<readonly (readonly StoreRecord[])[]> {
  return fc
    .array(fc.array(choice, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 12 })
    .map((batches) => {
      const world = new World();
      return batches.map((choices) => choices.map((chosen) => world.record(chosen)));
    });
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
    const content = Buffer.from(bytes);
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
