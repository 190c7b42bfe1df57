// Checks of queue options and of the fields of QueueInfo: defaults, names of values, time spans, invalid values. Areas: QUEUE, BODY.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { timestamp } from '../record-forms.ts';
import { Command } from '../wire/command.ts';
import { newQueue, requireInfoShows } from './shared/queue-state.ts';
import { expectRefusedWith } from './shared/refusals.ts';
import { expectFields, inQueueInfo, requiredField } from './shared/required-fields.ts';
import { waitUntil } from './shared/retry-attempts.ts';
import { takeAndAck } from './shared/subscribers.ts';

type Info = Readonly<Record<string, unknown>>;

const validOptionChecks: CheckModule = [
  // QUEUE-001 (MUST): The broker creates a queue with the options in the payload of CreateQueue, and answers by a
  // CreateQueue with the id of the command.
  {
    id: 'QUEUE-001a',
    title: 'creates a queue with the options of CreateQueue',
    clauses: ['QUEUE-001', 'QUEUE-022', 'QUEUE-023'],
    profile: 'core',
    evidence: { frames: 3, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const deadLetterQueueName = ctx.queue('letters');
      const same = { messageTtl: '00:30:00', enableDeadLetterQueue: true, deadLetterQueueName };
      const numbers = { overflowStrategy: 3, maxRetryAttempts: 9 };
      const info = await createdQueueInfo(ctx, client, { mode: 3, maxQueueSize: 77, ...same, ...numbers });
      const wanted = { deliveryMode: 3, maxSize: 77, ...same, ...numbers };
      for (const [field, value] of Object.entries(wanted))
        ctx.assert.equal(withoutZeroFraction(optionIn(info, field)), value, `${field} in QueueInfo`);
    },
  },
  // QUEUE-001 (MUST): The broker creates a queue with the options in the payload of CreateQueue, and answers by a
  // CreateQueue with the id of the command.
  {
    id: 'QUEUE-001c',
    title: 'accepts the largest options, and keeps a message whose messageTtl is more than 2^31 ms',
    clauses: ['QUEUE-001', 'PUBLISH-002'],
    profile: 'core',
    waits: true,
    evidence: { frames: 8, assertions: 4 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const largest = { maxQueueSize: 2_147_483_647, maxRetryAttempts: 2_147_483_647 };
      const queues: string[] = [];
      for (const messageTtl of ['10000.00:00:00', '25.00:00:00']) {
        const queue = await newQueue(ctx, client, `largest-${queues.length}`, { ...largest, messageTtl });
        await client.publish(queue, '1');
        queues.push(queue);
      }
      await waitUntil(ctx, ctx.now() + ctx.timing.silenceMs);
      for (const queue of queues) {
        const info = (await client.queueInfo(queue)) ?? {};
        ctx.assert.equal(optionIn(info, 'maxSize'), largest.maxQueueSize, 'maxSize in QueueInfo');
        await client.subscribe(queue);
        const [delivery] = await takeAndAck(client, queue, 1);
        ctx.assert.sameJson(delivery?.payload, '1', 'the delivered payload', 'PUBLISH-002');
      }
    },
  },
  // QUEUE-002 (MUST): When the payload of CreateQueue omits mode, the queue is RoundRobin, whatever the server's
  // default.
  {
    id: 'QUEUE-002a',
    title: 'uses the defaults for options that the payload omits',
    clauses: ['QUEUE-002', 'QUEUE-003', 'QUEUE-005', 'QUEUE-006', 'QUEUE-007', 'QUEUE-022'],
    profile: 'core',
    evidence: { frames: 3, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const info = await createdQueueInfo(ctx, client, {});
      const defaults = [
        ['deliveryMode', 0, 'QUEUE-002'],
        ['maxSize', 10_000, 'QUEUE-003'],
        ['enableDeadLetterQueue', false, 'QUEUE-005'],
        ['overflowStrategy', 0, 'QUEUE-006'],
        ['maxRetryAttempts', 3, 'QUEUE-007'],
      ] as const;
      for (const [field, value, clause] of defaults)
        ctx.assert.equal(requiredField(info, field, inQueueInfo), value, `${field} in QueueInfo`, clause);
      const messageTtl = info['messageTtl'] ?? undefined;
      ctx.assert.equal(messageTtl, undefined, 'messageTtl in QueueInfo', 'QUEUE-022');
      requireInfoShows(ctx, await createdQueueInfo(ctx, client, { maxQueueSize: 77 }), { maxSize: 77 });
    },
  },
  // QUEUE-008 (MUST): The broker creates a queue with the server's defaults for a CreateQueue without payload.
  {
    id: 'QUEUE-008a',
    title: 'creates a queue without payload with the same options as one that a Publish creates',
    clauses: ['QUEUE-008', 'QUEUE-044'],
    profile: 'core',
    evidence: { frames: 5, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const created = await newQueue(ctx, client, 'created');
      const published = ctx.queue('published');
      await client.publish(published, '1');
      ctx.assert.deepEqual(
        shownOptions((await client.queueInfo(created)) ?? {}),
        shownOptions((await client.queueInfo(published)) ?? {}),
        'the options of the queue that CreateQueue created',
      );
      requireInfoShows(ctx, await createdQueueInfo(ctx, client, { maxQueueSize: 77 }), { maxSize: 77 });
    },
  },
  // QUEUE-008 (MUST): The broker creates a queue with the server's defaults for a CreateQueue without payload.
  {
    id: 'QUEUE-008b',
    title: 'creates a queue without payload with the configured defaults',
    clauses: ['QUEUE-008'],
    profile: 'limits',
    requires: { configuration: { queueDefaults: { deliveryMode: 'PriorityBased', maxQueueSize: 77 } } },
    evidence: { frames: 3, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const info = await client.queueInfo(await newQueue(ctx, client, 'created'));
      for (const [field, value] of [
        ['deliveryMode', 3],
        ['maxSize', 77],
      ] as const)
        ctx.assert.equal(requiredField(info ?? {}, field, inQueueInfo), value, `${field} in QueueInfo`);
    },
  },
  // QUEUE-021 (MUST): The broker answers QueueInfo of an existing queue with name, messageCount, subscriberCount,
  // deliveryMode, maxSize, createdAt, enableDeadLetterQueue, overflowStrategy and maxRetryAttempts.
  {
    id: 'QUEUE-021a',
    title: 'sends every required field of QueueInfo with its type',
    clauses: ['QUEUE-021', 'BODY-041'],
    profile: 'core',
    evidence: { frames: 3, assertions: 9 },
    run: async (ctx) => {
      const info = await createdQueueInfo(ctx, await ctx.connect(), { maxQueueSize: 5 });
      expectFields(ctx, info, requiredFields, inQueueInfo);
      ctx.assert.matches(requiredField(info, 'createdAt', inQueueInfo), timestamp, 'createdAt', 'BODY-041');
      requireInfoShows(ctx, info, { maxSize: 5 });
    },
  },
  // QUEUE-022 (MUST): QueueInfo contains messageTtl when the queue has one; otherwise messageTtl is absent or null.
  {
    id: 'QUEUE-022a',
    title: 'sends messageTtl in QueueInfo when the queue has one; otherwise it is absent or null',
    clauses: ['QUEUE-022'],
    profile: 'core',
    evidence: { frames: 5, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const timed = await createdQueueInfo(ctx, client, { messageTtl: '01:00:00' });
      const shown = requiredField(timed, 'messageTtl', { ...inQueueInfo, clause: 'QUEUE-022' });
      ctx.assert.matches(shown, wholeSpan('01:00:00'), 'messageTtl of a queue that has one');
      const untimed = await createdQueueInfo(ctx, client, {});
      ctx.assert.equal(untimed['messageTtl'] ?? null, null, 'messageTtl of a queue that has none');
    },
  },
  // QUEUE-023 (MUST): QueueInfo contains deadLetterQueueName when the options set it; when the name is generated,
  // deadLetterQueueName is absent or null.
  {
    id: 'QUEUE-023a',
    title:
      'sends deadLetterQueueName in QueueInfo when the options set it; a generated one is absent or null',
    clauses: ['QUEUE-023'],
    profile: 'core',
    evidence: { frames: 5, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const deadLetterQueueName = ctx.queue('given');
      const given = await createdQueueInfo(ctx, client, { enableDeadLetterQueue: true, deadLetterQueueName });
      const shown = requiredField(given, 'deadLetterQueueName', { ...inQueueInfo, clause: 'QUEUE-023' });
      ctx.assert.equal(shown, deadLetterQueueName, 'deadLetterQueueName of a queue whose options set it');
      const generated = await createdQueueInfo(ctx, client, { enableDeadLetterQueue: true });
      ctx.assert.equal(generated['deadLetterQueueName'] ?? null, null, 'a generated deadLetterQueueName');
    },
  },
  // QUEUE-027 (MUST): createdAt is the time at which the queue was created, in UTC.
  {
    id: 'QUEUE-027a',
    title: 'sends the creation time of the queue in createdAt',
    clauses: ['QUEUE-027', 'BODY-041'],
    profile: 'core',
    evidence: { frames: 5, assertions: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const first = createdAt(ctx, await createdQueueInfo(ctx, client, {}));
      const second = createdAt(ctx, await createdQueueInfo(ctx, client, {}));
      ctx.assert.betweenMs(second - first, 0, clockToleranceMs, 'the time between the two creation times');
      const offMs = Math.abs(Date.now() - second);
      ctx.assert.betweenMs(offMs, 0, clockToleranceMs, "the time between createdAt and the runner's clock");
    },
  },
  // QUEUE-027 (MUST): createdAt is the time at which the queue was created, in UTC.
  {
    id: 'QUEUE-027b',
    title: 'sends the time of the later creation for a queue that was deleted and created again',
    clauses: ['QUEUE-027'],
    profile: 'core',
    waits: true,
    evidence: { frames: 6, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'again');
      const first = createdAt(ctx, (await client.queueInfo(queue)) ?? {});
      await client.deleteQueue(queue);
      // createdAt may have whole seconds only.
      await waitUntil(ctx, ctx.now() + 1100);
      await client.createQueue(queue);
      const second = createdAt(ctx, (await client.queueInfo(queue)) ?? {});
      ctx.assert.betweenMs(second - first, 1, clockToleranceMs, 'the time between the two creation times');
    },
  },
  // QUEUE-043 (SHOULD): The broker ignores unknown properties of queue options.
  {
    id: 'QUEUE-043a',
    title: 'ignores options that it does not know',
    clauses: ['QUEUE-043'],
    profile: 'core',
    evidence: { frames: 3, assertions: 1 },
    run: async (ctx) => {
      const info = await createdQueueInfo(ctx, await ctx.connect(), {
        maxQueueSize: 6,
        colour: 'green',
        nested: {},
      });
      ctx.assert.equal(requiredField(info, 'maxSize', inQueueInfo), 6, 'maxSize');
    },
  },
  // BODY-037 (MUST): Where JSON may contain an enumeration value as a number, the broker also accepts the name of the
  // value, case-insensitively.
  {
    id: 'BODY-037a',
    title: 'accepts the name of an enumeration value, case-insensitively, instead of its number',
    clauses: ['BODY-037'],
    profile: 'core',
    evidence: { frames: 5, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      // The checks of BODY-038 and BODY-039 show which number a name stands for.
      const named = await createdQueueInfo(ctx, client, {
        mode: 'PriorityBased',
        overflowStrategy: 'BlockPublisher',
      });
      for (const field of ['deliveryMode', 'overflowStrategy'])
        ctx.assert.notEqual(optionIn(named, field), 0, `${field} after a name that is not the default`);
      for (const names of [
        { mode: 'prioritybased', overflowStrategy: 'BLOCKPUBLISHER' },
        { mode: 'PRIORITYBASED', overflowStrategy: 'blockPublisher' },
      ]) {
        const info = await createdQueueInfo(ctx, client, names);
        for (const field of ['deliveryMode', 'overflowStrategy'])
          ctx.assert.equal(optionIn(info, field), optionIn(named, field), `${field} in QueueInfo`);
      }
    },
  },
  // BODY-038 (MUST): The values of DeliveryMode are RoundRobin 0, FanOutWithAck 1, FanOutWithoutAck 2, PriorityBased 3.
  {
    id: 'BODY-038a',
    title: 'uses the numbers RoundRobin 0, FanOutWithAck 1, FanOutWithoutAck 2, PriorityBased 3',
    clauses: ['BODY-038', 'BODY-037'],
    profile: 'core',
    evidence: { frames: 9, assertions: 4 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const modes = ['RoundRobin', 'FanOutWithAck', 'FanOutWithoutAck', 'PriorityBased'];
      for (const [number, mode] of modes.entries()) {
        const info = await createdQueueInfo(ctx, client, { mode });
        ctx.assert.equal(requiredField(info, 'deliveryMode', inQueueInfo), number, `the number of ${mode}`);
      }
    },
  },
  // BODY-039 (MUST): The values of OverflowStrategy are DropOldest 0, DropNewest 1, BlockPublisher 2, RedirectToDlq 3.
  {
    id: 'BODY-039a',
    title: 'uses the numbers DropOldest 0, DropNewest 1, BlockPublisher 2, RedirectToDlq 3',
    clauses: ['BODY-039', 'BODY-037'],
    profile: 'core',
    evidence: { frames: 9, assertions: 4 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const strategies = ['DropOldest', 'DropNewest', 'BlockPublisher', 'RedirectToDlq'];
      for (const [number, overflowStrategy] of strategies.entries()) {
        const info = await createdQueueInfo(ctx, client, { overflowStrategy, enableDeadLetterQueue: true });
        ctx.assert.equal(
          requiredField(info, 'overflowStrategy', inQueueInfo),
          number,
          `the number of ${overflowStrategy}`,
        );
      }
    },
  },
  // BODY-040 (MUST): A time span is text of the form [d.]hh:mm:ss with an optional fraction of 1 to 7 digits.
  {
    id: 'BODY-040a',
    title: 'reads and writes time spans with days and fractions of a second',
    clauses: ['BODY-040', 'BODY-042'],
    profile: 'core',
    evidence: { frames: 9, assertions: 4 },
    run: async (ctx) => {
      const client = await ctx.connect();
      for (const [given, shown] of [
        ['1.00:00:00', wholeSpan('1.00:00:00')],
        ['00:00:01.5', /^00:00:01\.50{0,6}$/],
        ['00:01:00.05', /^00:01:00\.050{0,5}$/],
        ['2.03:04:05.0000000', wholeSpan('2.03:04:05')],
      ] as const) {
        const info = await createdQueueInfo(ctx, client, { messageTtl: given });
        const messageTtl = requiredField(info, 'messageTtl', inQueueInfo);
        ctx.assert.matches(messageTtl, shown, `messageTtl after ${given}`);
        const isShort = withoutZeroFraction(messageTtl) === messageTtl;
        ctx.should(isShort, 'BODY-042', 'messageTtl omits a fraction that is zero', { actual: messageTtl });
      }
    },
  },
] satisfies readonly Check[];

type InvalidOptions = {
  readonly id: string;
  readonly title: string;
  /** Option payloads, each with one invalid value. */
  readonly payloads: (queue: string) => readonly string[];
  /** The end of the queue name, if the check needs a certain one. */
  readonly name?: string;
  /** Requirements whose breach alone lets the broker accept these options. */
  readonly possibleCauses?: readonly string[];
};

const invalidOptions: readonly InvalidOptions[] = [
  // QUEUE-032 (SHOULD): The broker refuses a maxQueueSize outside 1 .. 2,147,483,647 with INVALID_PAYLOAD.
  {
    id: 'QUEUE-032a',
    title: 'refuses maxQueueSize outside 1 .. 2,147,483,647',
    payloads: () => [
      '{"maxQueueSize":0}',
      '{"maxQueueSize":-1}',
      '{"maxQueueSize":2147483648}',
      '{"maxQueueSize":1.5}',
    ],
  },
  // QUEUE-033 (SHOULD): The broker refuses a maxRetryAttempts outside 1 .. 2,147,483,647 with INVALID_PAYLOAD.
  {
    id: 'QUEUE-033a',
    title: 'refuses maxRetryAttempts outside 1 .. 2,147,483,647',
    payloads: () => ['{"maxRetryAttempts":0}', '{"maxRetryAttempts":-3}', '{"maxRetryAttempts":2147483648}'],
  },
  // QUEUE-034 (SHOULD): The broker refuses a messageTtl that is zero or negative with INVALID_PAYLOAD.
  {
    id: 'QUEUE-034a',
    title: 'refuses messageTtl that is not positive',
    payloads: () => ['{"messageTtl":"00:00:00"}', '{"messageTtl":"-00:00:01"}'],
  },
  // QUEUE-035 (SHOULD): The broker refuses a messageTtl over 10,000 days with INVALID_PAYLOAD.
  {
    id: 'QUEUE-035a',
    title: 'refuses messageTtl over 10,000 days',
    payloads: () => ['{"messageTtl":"10000.00:00:01"}', '{"messageTtl":"10001.00:00:00"}'],
  },
  // QUEUE-036 (SHOULD): The broker refuses an unknown delivery mode or overflow strategy with INVALID_PAYLOAD.
  {
    id: 'QUEUE-036a',
    title: 'refuses unknown delivery modes and overflow strategies',
    payloads: () => [
      '{"mode":4}',
      '{"mode":-1}',
      '{"mode":"Anycast"}',
      '{"overflowStrategy":4}',
      '{"overflowStrategy":"Spill"}',
    ],
  },
  // QUEUE-037 (SHOULD): The broker refuses options with overflowStrategy RedirectToDlq and without a dead letter queue
  // with INVALID_PAYLOAD.
  {
    id: 'QUEUE-037a',
    title: 'refuses RedirectToDlq without a dead letter queue',
    payloads: () => ['{"overflowStrategy":3}', '{"overflowStrategy":3,"enableDeadLetterQueue":false}'],
    possibleCauses: ['QUEUE-005'],
  },
  // QUEUE-038 (SHOULD): The broker refuses a queue that would be its own dead letter queue with INVALID_PAYLOAD.
  {
    id: 'QUEUE-038a',
    title: 'refuses a queue whose dead letter queue is the queue itself',
    payloads: (queue) => [JSON.stringify({ enableDeadLetterQueue: true, deadLetterQueueName: queue })],
  },
  // QUEUE-039 (SHOULD): The broker refuses a deadLetterQueueName that breaks the rule for queue names with
  // INVALID_PAYLOAD.
  {
    id: 'QUEUE-039a',
    title: 'refuses a deadLetterQueueName that breaks the rule for queue names',
    payloads: () =>
      ['no good!', 'x'.repeat(257)].map((deadLetterQueueName) =>
        JSON.stringify({ enableDeadLetterQueue: true, deadLetterQueueName }),
      ),
    possibleCauses: ['BODY-023', 'BODY-024'],
  },
  // QUEUE-040 (SHOULD): The broker refuses a queue whose generated dead letter queue name would exceed 256 UTF-16 units
  // with INVALID_PAYLOAD.
  {
    id: 'QUEUE-040a',
    title: 'refuses a queue whose generated dead letter queue name would be too long',
    name: 'n'.repeat(220),
    payloads: () => ['{"enableDeadLetterQueue":true}'],
  },
  // QUEUE-041 (SHOULD): The broker refuses a CreateQueue payload that is not a JSON object, or that contains a value of
  // the wrong type, with INVALID_PAYLOAD.
  {
    id: 'QUEUE-041a',
    title: 'refuses options that are not a JSON object, or that contain a value of the wrong type',
    payloads: () => [
      '[]',
      '7',
      '"orders"',
      '{"maxQueueSize":"many"}',
      '{"enableDeadLetterQueue":"yes"}',
      '{"messageTtl":30}',
    ],
  },
];

export const queueOptionChecks: CheckModule = [
  ...validOptionChecks,
  ...invalidOptions.map(invalidOptionsCheck),
];

function invalidOptionsCheck({ id, title, payloads, name, possibleCauses = [] }: InvalidOptions): Check {
  return {
    id,
    title: `${title} with INVALID_PAYLOAD, and creates no queue`,
    clauses: [id.slice(0, -1), 'QUEUE-042'],
    profile: 'core',
    evidence: { frames: 4, assertions: 4 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = name === undefined ? ctx.queue('impossible') : ctx.queue(name).padEnd(254, 'n');
      for (const payload of payloads(queue)) {
        const fields = { command: Command.CreateQueue, id: ctx.id(), queue, payload };
        await expectRefusedWith(ctx, client, fields, {
          code: 'INVALID_PAYLOAD',
          what: `the options are ${payload}`,
          possibleCauses,
        });
        ctx.assert.equal(
          await client.queueInfo(queue),
          undefined,
          'QueueInfo of the queue that must not exist',
          'QUEUE-042',
        );
      }
    },
  };
}

/** Creates a queue with these options and returns its info. */
async function createdQueueInfo(ctx: CheckContext, client: Connection, options: Info): Promise<Info> {
  const queue = ctx.id('options');
  await client.createQueue(queue, options);
  const info = await client.queueInfo(queue);
  if (info === undefined) ctx.assert.fail('QueueInfo describes the created queue', { actual: info });
  return info;
}

const requiredFields = {
  name: 'string',
  messageCount: 'number',
  subscriberCount: 'number',
  deliveryMode: 'number',
  maxSize: 'number',
  createdAt: 'string',
  enableDeadLetterQueue: 'boolean',
  overflowStrategy: 'number',
  maxRetryAttempts: 'number',
} as const;

/** Tolerance for different clocks of broker and runner. A wrong time zone or a wrong epoch differs by more. */
const clockToleranceMs = 15 * 60_000;

function createdAt(ctx: CheckContext, info: Info): number {
  const text = requiredField(info, 'createdAt', inQueueInfo);
  ctx.assert.matches(text, timestamp, 'createdAt', 'BODY-041');
  return Date.parse(String(text));
}

/** A time span of whole seconds; that it omits its fraction is a recommendation (BODY-042). */
function wholeSpan(text: string): RegExp {
  return new RegExp(`^${text.replace('.', '\\.')}(\\.0{1,7})?$`);
}

function withoutZeroFraction(value: unknown): unknown {
  return typeof value === 'string' ? value.replace(/(:\d\d)\.0{1,7}$/, '$1') : value;
}

/** An option of a queue that has it. */
function optionIn(info: Info, field: string): unknown {
  const clause = { messageTtl: 'QUEUE-022', deadLetterQueueName: 'QUEUE-023' }[field];
  return requiredField(info, field, clause === undefined ? inQueueInfo : { ...inQueueInfo, clause });
}

/** What QueueInfo shows of the options, except the name of the dead letter queue. */
function shownOptions(info: Info): Info {
  const fields = ['deliveryMode', 'maxSize', 'enableDeadLetterQueue', 'overflowStrategy', 'maxRetryAttempts'];
  const shown = Object.fromEntries(fields.map((field) => [field, requiredField(info, field, inQueueInfo)]));
  return { ...shown, messageTtl: info['messageTtl'] ?? null };
}
