// Declarations against scripted operations: what is created, deleted and reported, and what happens when other clients do the same at
// the same time.

import { describe, expect, it } from 'vitest';
import { ClientError, CommandError } from '../errors.ts';
import type { CreateQueueOptions, QueueDetails } from '../queue-answers.ts';
import { applyDeclarations, type DeclarationOptions, type QueueOperations } from './apply-declarations.ts';
import type { QueueDifference } from './differences.ts';
import { QueueConflictError } from './queue-conflict-error.ts';
import type { QueueDeclaration } from './queue-declaration.ts';

const defaults: Omit<QueueDetails, 'name'> = {
  messageCount: 0,
  subscriberCount: 0,
  deliveryMode: 'RoundRobin',
  maxSize: 10_000,
  createdAt: new Date(0),
  messageTtlMs: undefined,
  enableDeadLetterQueue: false,
  deadLetterQueueName: undefined,
  overflowStrategy: 'DropOldest',
  maxRetryAttempts: 3,
};

type Existing = Readonly<Record<string, Partial<QueueDetails>>>;
type Interference = (queues: Map<string, QueueDetails>) => void;

/** Queues in a map; each call is noted, and other clients may interfere before it. */
class ScriptedOperations implements QueueOperations {
  readonly calls: string[] = [];
  readonly queues: Map<string, QueueDetails>;
  readonly #before: Readonly<Record<string, Interference>>;

  /** `before`: by the number and name of the call, such as `2 createQueue`. */
  constructor(existing: Existing = {}, before: Readonly<Record<string, Interference>> = {}) {
    this.queues = new Map(Object.entries(existing).map(([name, options]) => [name, details(name, options)]));
    this.#before = before;
  }

  async queueInfo(queue: string): Promise<QueueDetails | undefined> {
    this.#note('queueInfo', queue);
    return this.queues.get(queue);
  }

  async createQueue(queue: string, options?: CreateQueueOptions): Promise<void> {
    this.#note('createQueue', `${queue}${options === undefined ? '' : ` ${JSON.stringify(options)}`}`);
    if (this.queues.has(queue)) throw new CommandError('QUEUE_EXISTS', '');
    const { mode = 'RoundRobin', maxQueueSize = 10_000, ...rest } = options ?? {};
    this.queues.set(queue, details(queue, { deliveryMode: mode, maxSize: maxQueueSize, ...rest }));
  }

  async deleteQueue(queue: string): Promise<void> {
    this.#note('deleteQueue', queue);
    if (!this.queues.delete(queue)) throw new CommandError('QUEUE_NOT_FOUND', '');
  }

  #note(operation: string, text: string): void {
    this.calls.push(`${operation} ${text}`);
    this.#before[`${this.calls.length} ${operation}`]?.(this.queues);
  }
}

function details(name: string, options: Partial<QueueDetails>): QueueDetails {
  return { ...defaults, name, ...options };
}

type Case = Omit<DeclarationOptions, 'queues'> & { readonly queues?: readonly QueueDeclaration[] };

const fanOut: QueueDeclaration = { name: 'q', mode: 'FanOutWithAck' };

/** Applies a declaration of `q` with another mode, unless told otherwise; returns the reported differences. */
async function apply(operations: QueueOperations, { queues = [fanOut], ...options }: Case = {}) {
  const reported: QueueDifference[] = [];
  const onDifference = (difference: QueueDifference) => void reported.push(difference);
  const error = await applyDeclarations(operations, { queues, onDifference, ...options }).catch(
    (thrown: unknown) => thrown,
  );
  return { error, reported: reported.map(({ queue, option, severity }) => `${queue} ${option} ${severity}`) };
}

describe('a missing queue', () => {
  it.each(['Ignore', 'Fail', 'Override'] as const)(
    'is created with its options, also with strategy %s [CLIENT-015]',
    async (strategy) => {
      const operations = new ScriptedOperations();
      const queues = [{ name: 'a' }, { name: 'b', maxQueueSize: 5, messageTtlMs: null }];
      expect(await apply(operations, { queues, strategy })).toEqual({ error: undefined, reported: [] });
      expect(operations.calls).toEqual([
        'queueInfo a',
        'createQueue a',
        'queueInfo b',
        'createQueue b {"maxQueueSize":5}',
      ]);
    },
  );

  it('is created on a reconnect too, and its neighbour is left as it is [CLIENT-015, CLIENT-029]', async () => {
    const operations = new ScriptedOperations({ a: {} });
    const queues = [{ ...fanOut, name: 'a' }, fanOut];
    for (const strategy of ['Fail', 'Override'] as const) {
      operations.queues.delete('q');
      expect(await apply(operations, { queues, strategy, isReconnect: true })).toEqual({
        error: undefined,
        reported: [],
      });
      expect(operations.queues.get('a')?.deliveryMode).toBe('RoundRobin');
      expect(operations.queues.get('q')?.deliveryMode).toBe('FanOutWithAck');
    }
  });
});

describe('an existing queue', () => {
  it('is left alone when nothing differs', async () => {
    const operations = new ScriptedOperations({ q: { deliveryMode: 'FanOutWithAck' } });
    expect(await apply(operations, { strategy: 'Override' })).toEqual({ error: undefined, reported: [] });
    expect(operations.calls).toEqual(['queueInfo q']);
  });

  it.each([{}, { strategy: 'Ignore' }] as const)(
    'is left alone when it differs and the strategy is %j, and the difference is reported [CLIENT-016, CLIENT-024, CLIENT-027]',
    async (options) => {
      const operations = new ScriptedOperations({ q: {} });
      expect(await apply(operations, options)).toEqual({ error: undefined, reported: ['q mode Hard'] });
      expect(operations.calls).toEqual(['queueInfo q']);
    },
  );

  it.each(['Fail', 'Override'] as const)(
    'is left alone with strategy %s when all differences are Info',
    async (strategy) => {
      const operations = new ScriptedOperations({ q: {} });
      const queues = [{ name: 'q', maxQueueSize: 5 }];
      expect(await apply(operations, { queues, strategy })).toEqual({
        error: undefined,
        reported: ['q maxQueueSize Info'],
      });
      expect(operations.calls).toEqual(['queueInfo q']);
    },
  );

  it('makes strategy Fail raise an error with the differences of all queues that conflict, after the missing ones were created [CLIENT-025]', async () => {
    const operations = new ScriptedOperations({ q: { messageTtlMs: 9 }, info: {}, soft: {} });
    const queues = [
      { ...fanOut, maxQueueSize: 5, messageTtlMs: null },
      { name: 'info', maxRetryAttempts: 1 },
      { name: 'soft', messageTtlMs: 1_000 },
      { name: 'new' },
    ];
    const { error, reported } = await apply(operations, { queues, strategy: 'Fail' });
    expect(error).toBeInstanceOf(QueueConflictError);
    expect(error).toBeInstanceOf(ClientError);
    expect(error).toMatchObject({ name: 'QueueConflictError', code: 'QUEUE_CONFLICT' });
    expect((error as QueueConflictError).differences).toEqual([
      { queue: 'q', option: 'mode', declared: 'FanOutWithAck', live: 'RoundRobin', severity: 'Hard' },
      { queue: 'q', option: 'maxQueueSize', declared: 5, live: 10_000, severity: 'Info' },
      { queue: 'q', option: 'messageTtlMs', declared: null, live: 9, severity: 'Info' },
      { queue: 'soft', option: 'messageTtlMs', declared: 1_000, live: null, severity: 'Soft' },
    ]);
    expect((error as Error).message).toBe(
      'existing queues differ from their declarations. ' +
        'q: mode is declared as FanOutWithAck, the queue has RoundRobin (Hard). ' +
        'q: maxQueueSize is declared as 5, the queue has 10000 (Info). ' +
        'q: messageTtlMs is declared as none, the queue has 9 (Info). ' +
        'soft: messageTtlMs is declared as 1000, the queue has none (Soft). ' +
        'Change the declaration, or delete the queue, or use conflict strategy Ignore or Override; ' +
        'Override deletes the messages of the queue.',
    );
    expect(reported).toHaveLength(5);
    expect(operations.calls).toEqual([
      'queueInfo q',
      'queueInfo info',
      'queueInfo soft',
      'queueInfo new',
      'createQueue new',
    ]);
  });

  it.each([
    ['Hard', fanOut],
    ['Soft', { name: 'q', messageTtlMs: 5 }],
  ])(
    'is deleted and created again with strategy Override and a %s difference [CLIENT-026]',
    async (severity, declared) => {
      const operations = new ScriptedOperations({ q: {} });
      const { name, ...options } = declared;
      const option = Object.keys(options).join();
      expect(await apply(operations, { queues: [declared], strategy: 'Override' })).toEqual({
        error: undefined,
        reported: [`q ${option} ${severity}`],
      });
      expect(operations.calls).toEqual([
        'queueInfo q',
        'deleteQueue q',
        `createQueue q ${JSON.stringify(options)}`,
      ]);
    },
  );
});

describe('another client', () => {
  const create = (options: Partial<QueueDetails>) => (queues: Map<string, QueueDetails>) =>
    void queues.set('q', details('q', options));
  const remove = (queues: Map<string, QueueDetails>) => void queues.delete('q');

  it('that creates the same queue first causes no error: the queue is read again [CLIENT-015]', async () => {
    const operations = new ScriptedOperations(
      {},
      { '2 createQueue': create({ deliveryMode: 'FanOutWithAck' }) },
    );
    expect(await apply(operations, { strategy: 'Fail' })).toEqual({ error: undefined, reported: [] });
    expect(operations.calls).toEqual([
      'queueInfo q',
      'createQueue q {"mode":"FanOutWithAck"}',
      'queueInfo q',
    ]);
  });

  it('that creates a different queue first is judged by the strategy [CLIENT-016, CLIENT-025]', async () => {
    const race = () => new ScriptedOperations({}, { '2 createQueue': create({}) });
    expect(await apply(race())).toEqual({ error: undefined, reported: ['q mode Hard'] });
    expect((await apply(race(), { strategy: 'Fail' })).error).toBeInstanceOf(QueueConflictError);
    const overridden = race();
    expect((await apply(overridden, { strategy: 'Override' })).error).toBeUndefined();
    expect(overridden.queues.get('q')?.deliveryMode).toBe('FanOutWithAck');
  });

  it('that creates and deletes the queue leaves it missing, so that it is created [CLIENT-015]', async () => {
    const operations = new ScriptedOperations({}, { '2 createQueue': create({}), '3 queueInfo': remove });
    expect(await apply(operations)).toEqual({ error: undefined, reported: [] });
    expect(operations.queues.get('q')?.deliveryMode).toBe('FanOutWithAck');
  });

  it('that deletes the queue before Override does causes no error [CLIENT-026]', async () => {
    const operations = new ScriptedOperations({ q: {} }, { '2 deleteQueue': remove });
    expect((await apply(operations, { strategy: 'Override' })).error).toBeUndefined();
    expect(operations.queues.get('q')?.deliveryMode).toBe('FanOutWithAck');
  });

  it('that creates the queue again each time makes Override fail after five attempts', async () => {
    const again = Object.fromEntries([3, 6, 9, 12, 15].map((call) => [`${call} createQueue`, create({})]));
    const operations = new ScriptedOperations({ q: {} }, again);
    expect((await apply(operations, { strategy: 'Override' })).error).toMatchObject({ code: 'QUEUE_EXISTS' });
    expect(operations.calls).toHaveLength(15);
  });
});

describe('an error', () => {
  it.each(['queueInfo', 'createQueue', 'deleteQueue'] as const)('of %s is passed on', async (operation) => {
    const refused = new CommandError('NOT_AUTHORIZED', 'no');
    const operations = new ScriptedOperations(operation === 'deleteQueue' ? { q: {} } : {});
    Object.assign(operations, { [operation]: () => Promise.reject(refused) });
    expect((await apply(operations, { strategy: 'Override' })).error).toBe(refused);
  });
});
