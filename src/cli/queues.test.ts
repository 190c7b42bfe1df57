// `truemq queues` and `truemq dlq` against a broker in this process, with its dashboard: what they print, what they ask, what they change. And `truemq
// admin`, which that broker does not serve.

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Client, connect } from '../client/index.ts';
import { type RunningBroker, startBroker } from '../server/start-broker.ts';
import { testCommandContext } from '../testing/command-context.ts';
import { admin } from './admin.ts';
import { UsageError } from './arguments.ts';
import { type Command, ExitCode } from './command.ts';
import { loadAdapterConfiguration } from './configuration-flags.ts';
import { dlq } from './dlq.ts';
import { createLogger } from './logger.ts';
import { queues } from './queues.ts';

let broker: RunningBroker;
let client: Client;
let address: string[];
let dashboard: string[];

beforeAll(async () => {
  const entries = new Map<string, unknown>([
    ['port', 0],
    ['health', false],
    ['rateLimit', false],
    ['dashboardPort', 0],
    ['retryDelay', '1ms'],
  ]);
  const { configuration } = loadAdapterConfiguration(entries, testCommandContext());
  const logger = createLogger({ level: 'error', format: 'json', write: () => undefined, wallNow: Date.now });
  broker = await startBroker(configuration, logger);
  address = ['--port', String(broker.tcp.port)];
  dashboard = ['--dashboard-url', broker.dashboard?.url ?? ''];
  client = await connect({ port: broker.tcp.port, onHandlerError: () => undefined });
}, 60_000);

afterAll(async () => {
  await client.close();
  await broker.stop();
});

type Extras = { readonly answer?: string; readonly environment?: Readonly<Record<string, string>> };

async function run(command: Command, argv: readonly string[], { answer, environment }: Extras = {}) {
  const context = testCommandContext(environment);
  const asked: string[] = [];
  if (answer !== undefined) {
    context.ask = async (question) => {
      asked.push(question);
      return answer;
    };
  }
  const exitCode = await command.run([...argv, ...address], context);
  return { exitCode, output: context.output(), errors: context.errors(), asked };
}

const jsonOf = async (command: Command, argv: readonly string[]) =>
  JSON.parse((await run(command, [...argv, '--json'])).output);

describe('queues', () => {
  it('creates a queue with every option, and describes it [CLIENT-001]', async () => {
    const argv = ['create', 'all', '--mode', 'prioritybased', '--max-queue-size', '7', '--message-ttl', '1h'];
    argv.push('--enable-dead-letter-queue', '--dead-letter-queue-name', 'lost');
    argv.push('--overflow-strategy', 'RedirectToDlq', '--max-retry-attempts', '5');
    expect(await run(queues, argv)).toMatchObject({ exitCode: ExitCode.Done, output: 'queue all created\n' });
    expect(await jsonOf(queues, ['info', 'all'])).toEqual({
      name: 'all',
      messageCount: 0,
      subscriberCount: 0,
      mode: 'PriorityBased',
      maxQueueSize: 7,
      messageTtlMs: 3_600_000,
      enableDeadLetterQueue: true,
      deadLetterQueueName: 'lost',
      overflowStrategy: 'RedirectToDlq',
      maxRetryAttempts: 5,
      createdAt: expect.stringMatching(/^\d{4}-/),
    });
    const { output } = await run(queues, ['info', 'all']);
    expect(output).toMatch(/^queue: +all\nwaiting messages: +0 of at most 7\n/);
    expect(output).toMatch(/^message TTL: +1h$/m);
    expect(output).toMatch(/^dead letters: +lost$/m);
  });

  it('creates a queue with the defaults of the broker', async () => {
    await run(queues, ['create', 'plain']);
    expect(await jsonOf(queues, ['info', 'plain'])).toMatchObject({
      mode: 'RoundRobin',
      messageTtlMs: null,
      deadLetterQueueName: null,
    });
    expect((await run(queues, ['info', 'plain'])).output).toMatch(/^message TTL: +no limit$/m);
  });

  it('says why the broker refuses, and what to do', async () => {
    const created = await run(queues, ['create', 'plain', '--mode', 'FanOutWithAck']);
    expect(created.exitCode).toBe(ExitCode.Failed);
    expect(created.errors).toMatch(/^truemq: QUEUE_EXISTS: .*\ntruemq: {3}this shows its options/);
    const described = await run(queues, ['info', 'nothing']);
    expect(described.exitCode).toBe(ExitCode.Failed);
    expect(described.errors).toMatch(/^truemq: QUEUE_NOT_FOUND: queue nothing .*\n.*truemq queues list\n$/);
  });

  it('lists the queues by name, with figures or without', async () => {
    await client.createQueue('listed');
    await client.publish('listed', 1);
    const { output } = await run(queues, ['list']);
    expect(output).toMatch(/^QUEUE +WAITING +SUBSCRIBERS +MODE +DEAD LETTERS\n/);
    expect(output).toMatch(/^listed +1 +0 +RoundRobin +-$/m);
    const names = (await run(queues, ['list', '--names'])).output.trimEnd().split('\n');
    expect(names).toEqual([...names].sort());
    expect(names).toContain('listed');
    expect(await jsonOf(queues, ['list', '--names'])).toEqual(names);
    const listed = { name: 'listed', messageCount: 1, mode: 'RoundRobin' };
    expect(await jsonOf(queues, ['list'])).toContainEqual(expect.objectContaining(listed));
  });

  it('deletes a queue without a question in a pipe', async () => {
    await client.createQueue('old');
    expect(await run(queues, ['delete', 'old', '--json'])).toMatchObject({
      exitCode: ExitCode.Done,
      output: '{\n  "queue": "old",\n  "isDeleted": true\n}\n',
    });
    expect(await client.queueInfo('old')).toBeUndefined();
  });

  it('says that there was no queue to delete', async () => {
    expect(await run(queues, ['delete', 'nosuch'])).toMatchObject({
      exitCode: ExitCode.Done,
      output: 'there was no queue nosuch; nothing was deleted\n',
    });
    expect(await jsonOf(queues, ['delete', 'nosuch'])).toEqual({ queue: 'nosuch', isDeleted: false });
  });

  it('asks on a terminal before it deletes or purges, unless --yes is given', async () => {
    await client.createQueue('precious');
    await client.publish('precious', 1);
    const refused = await run(queues, ['delete', 'precious'], { answer: '' });
    expect(refused).toMatchObject({ exitCode: ExitCode.Failed, errors: 'truemq: nothing was changed\n' });
    expect(refused.asked).toEqual(['delete queue precious with all its messages? [y/N] ']);
    const purge = ['purge', 'precious', ...dashboard];
    expect((await run(queues, purge, { answer: 'no' })).exitCode).toBe(ExitCode.Failed);
    expect((await client.queueInfo('precious'))?.messageCount).toBe(1);
    expect((await run(queues, purge, { answer: 'y' })).output).toBe('queue precious purged\n');
    expect((await client.queueInfo('precious'))?.messageCount).toBe(0);
    expect((await run(queues, ['delete', 'precious', '--yes'], { answer: '' })).asked).toEqual([]);
    expect(await client.queueInfo('precious')).toBeUndefined();
  });

  it('purges through the dashboard whose address is in the environment', async () => {
    await client.createQueue('full');
    await client.publish('full', 1);
    const environment = {
      TRUEMQ_URL: `vibemq://127.0.0.1:${broker.tcp.port}`,
      TRUEMQ_DASHBOARD_URL: broker.dashboard?.url ?? '',
    };
    expect(await queues.run(['purge', 'full'], testCommandContext(environment))).toBe(ExitCode.Done);
    expect((await client.queueInfo('full'))?.messageCount).toBe(0);
  });

  it.each([
    ['--url', 'vibemq://127.0.0.1:1', ''],
    ['--host', 'localhost', ', and if http://127.0.0.1:12925/ is, unset TRUEMQ_DASHBOARD_URL'],
    ['--port', '1', ''],
  ])(
    'does not take the dashboard of the environment for that of the broker which %s %s names',
    async (flag, value, more) => {
      await client.createQueue('other');
      await client.publish('other', 1);
      const environment = { TRUEMQ_DASHBOARD_URL: broker.dashboard?.url ?? '' };
      for (const [command, action] of [
        [queues, ['purge', 'other', '--yes']],
        [dlq, ['requeue', 'other', '--all']],
      ] as const) {
        const running = command.run([...action, flag, value], testCommandContext(environment));
        await expect(running).rejects.toThrow(UsageError);
        const message = await running.then(String, (error: Error) => error.message);
        expect(message.split('; ')[1]).toBe(
          `if it is the one of this broker, say --dashboard-url ${broker.dashboard?.url}${more}`,
        );
      }
      expect((await client.queueInfo('other'))?.messageCount).toBe(1);
      await client.deleteQueue('other');
    },
  );

  it('says what the dashboard says, and what to start when it is off', async () => {
    const unknown = await run(queues, ['purge', 'nothing', ...dashboard]);
    expect(unknown).toMatchObject({ exitCode: ExitCode.Failed, output: '' });
    expect(unknown.errors).toMatch(
      /^truemq: .*nothing.*\ntruemq: {3}the dashboard is the one at http:.*--dashboard-url names another one\n$/,
    );
    const off = await run(queues, ['purge', 'q', '--dashboard-url', 'http://127.0.0.1:1']);
    expect(off.exitCode).toBe(ExitCode.Failed);
    expect(off.errors).toMatch(
      /^truemq: no answer from the dashboard at http:\/\/127\.0\.0\.1:1\/: nobody listens on 127\.0\.0\.1:1\n.*truemq serve --dashboard on\n.*--dashboard-url/,
    );
  });

  it('says that the port of the broker is no dashboard, and the other way round', async () => {
    const noDashboard = await run(queues, [
      'purge',
      'q',
      '--dashboard-url',
      `http://127.0.0.1:${broker.tcp.port}`,
    ]);
    expect(noDashboard.exitCode).toBe(ExitCode.Failed);
    expect(noDashboard.errors).toMatch(
      /: no HTTP server answers on 127\.0\.0\.1:\d+; .* beside that of the broker\n/,
    );
    const context = testCommandContext();
    const { host } = new URL(dashboard[1] ?? '');
    expect(await queues.run(['list', '--url', `vibemq://${host}`], context)).toBe(ExitCode.Failed);
    expect(context.errors()).toMatch(
      /^truemq: cannot connect to 127\.0\.0\.1:\d+: an HTTP server answers there, and no broker\n.*--port is meant.*--health-port/,
    );
  });

  it('does not guess where the dashboard of another broker is', async () => {
    await expect(run(queues, ['purge', 'q'])).rejects.toThrow(/^--dashboard-url is missing/);
  });

  it.each([
    [[], /^what to do is missing: list, info, create, delete, purge$/],
    [['info', 'q', '--max-queue-size', '5'], /^--max-queue-size: no such flag of info; it is one of create$/],
    [['list', '--yes'], /^--yes: no such flag of list; it is one of delete and purge$/],
    [['info', 'q', '--max-queue-sise', '5'], /^--max-queue-sise: no such flag/],
    [['lst'], /^lst: no such action; did you mean list\?/],
    [['info'], /^QUEUE is missing$/],
    [['create', 'q', '--mode', 'RoundRobbin'], /^--mode: came "RoundRobbin".*did you mean RoundRobin\?$/],
    [['create', 'q', '--overflow-strategy', 'DropOld'], /; did you mean DropOldest\?$/],
    [['create', 'q', '--overflow-strategy', 'RedirectToDlq'], /needs enableDeadLetterQueue$/],
    [['create', 'q', '--max-queue-size', '0'], /^--max-queue-size: came "0"/],
    [['create', 'q', '--message-ttl', '5'], /^--message-ttl: came "5"; allowed is a duration/],
    [['create', 'q', '--dead-letter-queue-name', 'x'], /--enable-dead-letter-queue turns it on$/],
    [['delete', 'q', '--mode', 'RoundRobin'], /^--mode: no such flag/],
  ])('refuses %j', async (argv, message) => {
    await expect(queues.run(argv, testCommandContext())).rejects.toThrow(message);
  });
});

describe('dlq', () => {
  /** A queue with this many dead letters, numbered from 1; their ids in order. */
  async function deadLetters(
    queue: string,
    count: number,
    heldBy = `${queue}.dlq`,
    published: { readonly id?: string } = {},
  ): Promise<string[]> {
    const options = { enableDeadLetterQueue: true, maxRetryAttempts: 1, deadLetterQueueName: heldBy };
    await client.createQueue(queue, options);
    const before = (await client.queueInfo(heldBy))?.messageCount ?? 0;
    await client.subscribe(queue, () => {
      throw new Error('not today');
    });
    const ids: string[] = [];
    for (let number = 1; number <= count; number += 1)
      ids.push(await client.publish(queue, { number }, published));
    await vi.waitFor(async () => {
      expect((await client.queueInfo(heldBy))?.messageCount).toBe(before + count);
    });
    await client.unsubscribe(queue);
    return ids;
  }

  it('lists dead letters with reason and attempts', async () => {
    const [id] = await deadLetters('orders', 1);
    const { output } = await run(dlq, ['list', 'orders', ...dashboard]);
    const [head, row] = output.split('\n');
    expect(head).toMatch(/^ID +FROM +REASON +ATTEMPTS +SINCE +PAYLOAD$/);
    expect(row).toMatch(/ orders +\w+ +1 +\d{4}-.*Z +\{"number":1\}$/);
    const letters = await jsonOf(dlq, ['list', 'orders.dlq', ...dashboard]);
    expect(letters).toMatchObject([{ id, source: 'orders', attemptCount: 1, payload: { number: 1 } }]);
  });

  it('requeues one dead letter by its id', async () => {
    const [first, second] = await deadLetters('mail', 2);
    const { exitCode, output } = await run(dlq, ['requeue', 'mail', second ?? '', ...dashboard]);
    expect([exitCode, output]).toEqual([ExitCode.Done, '1 message requeued\n']);
    expect((await client.queueInfo('mail'))?.messageCount).toBe(1);
    expect(await jsonOf(dlq, ['list', 'mail', ...dashboard])).toMatchObject([{ id: first }]);
  });

  it('requeues all dead letters of one queue in their order, and leaves those of another', async () => {
    const ids = await deadLetters('one', 120, 'shared');
    await deadLetters('two', 1, 'shared');
    const { requeued, refused } = await jsonOf(dlq, ['requeue', 'one', '--all', ...dashboard]);
    expect([requeued, refused]).toEqual([ids, []]);
    const received: unknown[] = [];
    await client.subscribe('one', (message) => void received.push(message.json()));
    await vi.waitFor(() => expect(received).toHaveLength(120));
    expect(received).toEqual(ids.map((_, index) => ({ number: index + 1 })));
    expect((await client.queueInfo('shared'))?.messageCount).toBe(1);
  });

  it.each([['--all'], ['same']])(
    'requeues a dead letter of its queue, although an older one of another has its id: %s',
    async (which) => {
      const [older, newer] = [`older${which}`, `newer${which}`] as const;
      for (const queue of [older, newer]) await deadLetters(queue, 1, `dead${which}`, { id: 'same' });
      const { exitCode } = await run(dlq, ['requeue', newer, which, ...dashboard]);
      expect(exitCode).toBe(ExitCode.Done);
      expect(await client.queueInfo(older)).toMatchObject({ messageCount: 0 });
      expect(await client.queueInfo(newer)).toMatchObject({ messageCount: 1 });
      // The dead letter queue itself has those of all queues.
      const all = await run(dlq, ['requeue', `dead${which}`, which, ...dashboard]);
      expect(all.exitCode).toBe(ExitCode.Done);
      expect(await client.queueInfo(older)).toMatchObject({ messageCount: 1 });
    },
  );

  it('fails for what was not moved, and says why', async () => {
    const unknown = await run(dlq, ['requeue', 'orders', 'no such id', ...dashboard]);
    expect(unknown.exitCode).toBe(ExitCode.Failed);
    expect(unknown.errors).toMatch(/^truemq: no such id: not requeued: .+\n$/);
    await deadLetters('gone', 22);
    await client.deleteQueue('gone');
    const refused = await run(dlq, ['requeue', 'gone.dlq', '--all', ...dashboard]);
    expect([refused.exitCode, refused.output]).toEqual([ExitCode.Failed, '0 messages requeued\n']);
    expect(refused.errors.split('\n').at(-2)).toBe('truemq: and 2 more were not requeued');
  });

  it.each([
    [['requeue', 'q'], 'ID is missing; --all moves all dead letters'],
    [['requeue', 'q', 'id', '--all'], '--all: contradicts the ID "id"'],
    [['list'], 'QUEUE is missing'],
    [['list', 'q', '--dashboard-url', 'ftp://x'], '--dashboard-url: came "ftp://x"'],
  ])('refuses %j', async (argv, message) => {
    await expect(dlq.run(argv, testCommandContext())).rejects.toThrow(message);
  });
});

it('admin says how a broker gets users when it has none', async () => {
  const { exitCode, errors } = await run(admin, ['users']);
  expect(exitCode).toBe(ExitCode.Failed);
  expect(errors).toMatch(
    /^truemq: UNKNOWN_COMMAND: .*\n.*no users.*\n.*serve --superuser-password-file FILE\n$/,
  );
});
