// Faults in keeping messages over a stop and a crash: too late, not at all, changed, out of order, or too much. Areas: DURABLE, SHUTDOWN,
// DELIVERY, DLQ, TTL, LIMIT.
import type { Mutant } from './mutant.ts';

const store = 'src/storage/sqlite/sqlite-store.ts';
const statements = 'src/storage/sqlite/statements.ts';
const openDatabase = 'src/storage/sqlite/open-database.ts';
const batchPlan = 'src/storage/sqlite/batch-plan.ts';
const recovery = 'src/broker/recovery.ts';
const settlement = 'src/broker/settlement.ts';
const engine = 'src/backend/local/engine.ts';

const opened = '    this.#ended = new EndedQueues(database);';

/**
 * A store whose `commit` and `close` are the real ones with something between: `keep` a batch for later, `write` one, and `all` that
 * was kept.
 */
function between(commit: string, close: string): string {
  return `${opened}
    const real = { commit: this.commit, close: this.close };
    const kept = new Set<readonly StoreRecord[]>();
    const keep = (records: readonly StoreRecord[]): void => void kept.add(records);
    const write = (records: readonly StoreRecord[]): void => {
      if (kept.delete(records)) real.commit.call(this, records);
    };
    const all = (): void => [...kept].forEach(write);
    Object.assign(this, {
      commit: (records: readonly StoreRecord[]): void => {
        if (records.length === 0) return real.commit.call(this, records);
        ${commit}
      },
      close: (): void => {
        ${close}
        real.close.call(this);
      },
    });`;
}

/** A commit that writes its batch \`delayMs\` later. */
function late(delayMs: number): string {
  return `keep(records); setTimeout(() => write(records), ${delayMs}).unref();`;
}

/** What a crash right after a confirmation shows. */
const crashChecks = [
  'DURABLE-001a',
  'DURABLE-002a',
  'DURABLE-003a',
  'DURABLE-003b',
  'DURABLE-003c',
  'DURABLE-004a',
  'DURABLE-006b',
  'DURABLE-008a',
  'DURABLE-011a',
  'DURABLE-012a',
  'DURABLE-015a',
];

const timing: readonly Mutant[] = [
  {
    id: 'durable-confirms-before-commit',
    title: 'a batch is committed 200 ms after its PublishAcks were sent',
    file: store,
    find: opened,
    replace: between(late(200), 'all();'),
    mustFail: ['DURABLE-001a', 'DURABLE-002a', 'DURABLE-003a', 'DURABLE-003b'],
    mayFail: crashChecks,
  },
  {
    id: 'durable-commits-with-the-next-batch',
    title: 'a batch is committed together with the next one, so that a crash takes the last one',
    file: store,
    find: opened,
    replace: between('all(); keep(records);', 'all();'),
    mustFail: ['DURABLE-001a', 'DURABLE-002a'],
    mayFail: crashChecks,
  },
  {
    id: 'durable-delivers-before-commit',
    title: 'a message is delivered 100 ms before its batch is committed',
    file: engine,
    find: '    const committed = this.#commit(records);',
    replace: `    const early = outcomes.filter((outcome) => 'kind' in outcome && outcome.kind === 'deliver');
    const rest = outcomes.filter((outcome) => !early.includes(outcome));
    outcomes.splice(0, outcomes.length, ...rest);
    for (const outcome of early) this.#carryOut(outcome);
    for (const connection of early.length === 0 ? [] : this.#touched) connection.flush();
    const committed =
      early.length === 0
        ? this.#commit(records)
        : new Promise<void>((resolve) => setTimeout(resolve, 100)).then(() => this.#commit(records));`,
    mustFail: ['DURABLE-002a'],
    // Emptying a long queue takes long then.
    mayFail: ['DURABLE-003a', 'DURABLE-003b'],
  },
  {
    id: 'durable-removes-when-sent',
    title: 'a message is removed from the store when it is sent, not when it is acknowledged',
    file: 'src/broker/deliveries.ts',
    find: '    register(subscription.connection, delivery);\n    this.#attempt(delivery);',
    replace: `    register(subscription.connection, delivery);
    const { generation } = queue;
    this.#step.record({ kind: 'messageRemoved', generation, sequence: message.sequence });
    this.#attempt(delivery);`,
    mustFail: ['DURABLE-002a', 'DURABLE-006a', 'DELIVERY-023a'],
    mayFail: ['DURABLE-003a', 'DURABLE-006b', 'DURABLE-010a', 'DURABLE-011a', 'DURABLE-012a', 'DURABLE-015a'],
  },
  {
    id: 'durable-drops-the-last-at-a-stop',
    title: 'a batch is committed 400 ms later, and a stop does not wait for that',
    file: store,
    find: opened,
    replace: between(late(400), 'kept.clear();'),
    mustFail: ['SHUTDOWN-003a'],
  },
];

const messages: readonly Mutant[] = [
  {
    id: 'durable-keeps-ascii',
    title: 'the contents of messages are kept as ASCII, with question marks for everything else',
    file: statements,
    find: '    const content = bytesOf(stored.content);',
    replace:
      '    const content = bytesOf(stored.content).map((byte, at) => (at > 60 && byte > 127 ? 63 : byte));',
    mustFail: ['DURABLE-003c'],
  },
  {
    id: 'durable-forgets-priority',
    title: 'every message has priority Normal after a restart',
    file: statements,
    find: '    const columns = [sequence, generation, id, priority, acceptedWallAt, failedAttempts, content];',
    replace: '    const columns = [sequence, generation, id, 1, acceptedWallAt, failedAttempts, content];',
    mustFail: ['DURABLE-003c'],
  },
  {
    id: 'durable-invents-queues',
    title: 'a queue that comes back after a restart has a second one beside it',
    file: recovery,
    find: '    const queue = this.#queues.restore(stored);',
    replace: `    const queue = this.#queues.restore(stored);
    this.#queues.restore({ ...stored, name: \`\${stored.name}.2\`, generation: stored.generation + 1_000_000 });`,
    mustFail: ['DURABLE-004a'],
  },
  {
    id: 'durable-invents-messages',
    title: 'a message that comes back after a restart has a second one of another id behind it',
    file: recovery,
    find: '    if (!this.#settlement.restore(home.queue, stored, home.youngestAt)) {',
    replace: `    const isNew = this.#settlement.restore(home.queue, stored, home.youngestAt);
    const again = { ...stored, id: \`\${id}.2\`, sequence: sequence + 0.5 };
    this.#settlement.restore(home.queue, again, home.youngestAt);
    if (!isNew) {`,
    mustFail: ['DURABLE-003b', 'DURABLE-004a', 'DURABLE-006a'],
    mayFail: [...crashChecks, 'DURABLE-010a', 'DURABLE-013a', 'DURABLE-027a'],
  },
  {
    id: 'durable-keeps-acknowledged',
    title: 'what was acknowledged stays in the store and comes again after a restart',
    file: settlement,
    find: "    this.#step.record({ kind: 'messageRemoved', generation: queue.generation, sequence: message.sequence });",
    replace: `    if (event === 'acknowledge') return;
    this.#step.record({ kind: 'messageRemoved', generation: queue.generation, sequence: message.sequence });`,
    mustFail: ['DURABLE-006a', 'DURABLE-006b'],
    mayFail: ['DURABLE-012a'],
  },
  {
    id: 'durable-removes-at-a-stop-only',
    title: 'what was acknowledged is removed from the store when the broker stops, and no sooner',
    file: store,
    find: opened,
    replace: between(
      `keep(records.filter(({ kind }) => kind === 'messageRemoved'));
        real.commit.call(this, records.filter(({ kind }) => kind !== 'messageRemoved'));`,
      'all();',
    ),
    mustFail: ['DURABLE-006b'],
    mayFail: ['DURABLE-012a'],
  },
  {
    id: 'durable-forgets-order',
    title: 'every second message that comes back after a restart takes the place before its predecessor',
    file: settlement,
    find: '    return this.#place(queue, message, stored.sequence, acceptedAt);',
    replace: `    const place = stored.sequence % 2 === 0 ? stored.sequence - 1.5 : stored.sequence;
    const isNew = this.#place(queue, message, place, acceptedAt);
    this.#step.lastSequence = stored.sequence;
    return isNew;`,
    mustFail: ['DURABLE-010a'],
  },
  {
    id: 'durable-keeps-pushed-out',
    title: 'what DropOldest pushed out comes back after a restart',
    file: settlement,
    find: "    this.#step.record({ kind: 'messageRemoved', generation: queue.generation, sequence: message.sequence });",
    replace: `    if (event === 'drop') return;
    this.#step.record({ kind: 'messageRemoved', generation: queue.generation, sequence: message.sequence });`,
    mustFail: ['DURABLE-027a'],
  },
  {
    id: 'durable-keeps-sent',
    title: 'what was sent in FanOutWithoutAck comes back after a restart',
    file: settlement,
    find: "    this.#step.record({ kind: 'messageRemoved', generation: queue.generation, sequence: message.sequence });",
    replace: `    if (event === 'sendUnconfirmed') return;
    this.#step.record({ kind: 'messageRemoved', generation: queue.generation, sequence: message.sequence });`,
    mustFail: ['DURABLE-027a'],
    mayFail: ['DURABLE-003c'],
  },
];

const queues: readonly Mutant[] = [
  {
    id: 'durable-forgets-options',
    title: 'maxRetryAttempts of every queue is 3 after a restart',
    file: statements,
    find: 'options: JSON.parse(options) as QueueOptions };',
    replace: 'options: { ...(JSON.parse(options) as QueueOptions), maxRetryAttempts: 3 } };',
    mustFail: ['DURABLE-008a'],
  },
  {
    id: 'durable-forgets-creation-times',
    title: 'a queue was created at the start of the broker, whenever it really was',
    file: statements,
    find: '...stored, createdWallAt: created_at };',
    replace: '...stored, createdWallAt: created_at - created_at + Date.now() };',
    mustFail: ['DURABLE-008a'],
  },
  {
    id: 'durable-keeps-deleted',
    title: 'the deletion of a queue of the default size is undone by a restart',
    file: 'src/broker/queues.ts',
    find: "    this.#step.record({ kind: 'queueDeleted', generation: queue.generation });",
    replace: `    if (queue.options.maxQueueSize === 10_000) return;
    this.#step.record({ kind: 'queueDeleted', generation: queue.generation });`,
    mustFail: ['DURABLE-027a'],
  },
  {
    id: 'durable-forgets-age',
    title: 'the age of a message begins anew at a restart',
    file: recovery,
    find: '    return this.#step.now - Math.max(0, this.#step.wallNow - wallAt);',
    replace: '    return this.#step.now - Math.max(0, wallAt - wallAt);',
    mustFail: ['TTL-004a'],
  },
  {
    id: 'durable-memory-survives',
    title: 'a broker whose storage is memory keeps its messages in a file',
    file: 'src/cli/adapter-request.ts',
    find: "const DURABLE: readonly unknown[] = ['sqlite', 'durable'];",
    replace: "const DURABLE: readonly unknown[] = ['memory', 'sqlite', 'durable'];",
    mustFail: ['DURABLE-023a'],
  },
];

const deadLetters: readonly Mutant[] = [
  {
    id: 'durable-forgets-attempts',
    title: 'the failed attempts of a message are forgotten at a restart',
    file: settlement,
    find: '    message.failedAttempts = stored.failedAttempts;',
    replace: '    message.failedAttempts = stored.failedAttempts * 0;',
    mustFail: ['DURABLE-011a'],
  },
  {
    id: 'durable-forgets-dead-letters',
    title: 'dead letters are not there after a restart',
    file: statements,
    find: 'inOrder(messages, deadLetters)',
    replace: 'inOrder(messages, [][Symbol.iterator]())',
    mustFail: ['DURABLE-012a', 'DURABLE-013a'],
    mayFail: ['DURABLE-015a'],
  },
  {
    id: 'durable-forgets-reasons',
    title: 'a dead letter is a message like any other after a restart',
    file: statements,
    find: '  const deadLetter = deadLetterFacts(row);',
    replace: '  const deadLetter = undefined;',
    mustFail: ['DURABLE-012a', 'DLQ-010b'],
    mayFail: ['DURABLE-013a', 'DURABLE-015a'],
  },
  {
    id: 'durable-dead-letter-in-both',
    title: 'a message that is dead-lettered stays in the store of its queue too',
    file: batchPlan,
    find: '        this.#remove(record.from.sequence);\n        return this.#add(record.to);',
    replace: '        return this.#add(record.to);',
    mustFail: ['DURABLE-015a'],
    mayFail: ['DURABLE-011a'],
  },
  {
    id: 'durable-dead-letter-in-neither',
    title: 'a message that is dead-lettered leaves the store',
    file: batchPlan,
    find: '        this.#remove(record.from.sequence);\n        return this.#add(record.to);',
    replace: '        return this.#remove(record.from.sequence);',
    mustFail: ['DURABLE-015a'],
  },
];

const files: readonly Mutant[] = [
  {
    id: 'durable-overwrites-damage',
    title: 'a file that is no database is put aside, and the broker begins with an empty one',
    file: openDatabase,
    find: "      return refuse('it is not an SQLite database; nothing was changed');",
    replace: "      return (await import('node:fs')).rmSync(path);",
    mustFail: ['DURABLE-016a'],
  },
  {
    id: 'durable-shares-its-file',
    title: 'two brokers can open one file',
    file: openDatabase,
    find: "  database.pragma('locking_mode = EXCLUSIVE');\n  database.exec('BEGIN EXCLUSIVE; COMMIT');",
    replace: "  database.pragma('locking_mode = NORMAL');",
    mustFail: ['DURABLE-022a'],
  },
];

export const durableMutants: readonly Mutant[] = [
  ...timing,
  ...messages,
  ...queues,
  ...deadLetters,
  ...files,
];
