// Checks of what a user may do: operations, patterns, and the list of queues. Area: AUTH.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { frameText } from '../trace.ts';
import { Command } from '../wire/command.ts';
import type { FrameFields } from '../wire/frame.ts';
import { type OperationName, operations } from '../wire/operations.ts';
import { expectNothingStored, infoField, messageCountOf, newQueue } from './shared/queue-state.ts';
import { expectRefused } from './shared/refusals.ts';
import type { Entry } from './shared/users.ts';
import {
  connectAs,
  connectAsSuperuser,
  grant,
  newConnectedUser,
  newUser,
  withUsers,
} from './shared/users.ts';

/** The rights that a command about one queue needs. */
const commandOf = {
  Publish: Command.Publish,
  Subscribe: Command.Subscribe,
  CreateQueue: Command.CreateQueue,
  GetQueueInfo: Command.QueueInfo,
  DeleteQueue: Command.DeleteQueue,
} as const satisfies Partial<Record<OperationName, number>>;
type QueueOperation = keyof typeof commandOf;
const queueOperations = Object.keys(commandOf) as readonly QueueOperation[];

export const userRightChecks: CheckModule = [
  // AUTH-016 (MUST): The broker allows a user the operations of an entry of its access list on the queues that the
  // pattern of the entry matches, and no others.
  {
    id: 'AUTH-016a',
    title: 'carries out the one operation that an entry allows, and no other',
    clauses: ['AUTH-016', 'AUTH-022'],
    ...withUsers,
    evidence: { frames: 45, assertions: 30 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      for (const allowed of queueOperations) {
        const queue = await newQueue(ctx, admin, `for-${allowed}`);
        const entry: Entry = { queuePattern: `${queue}*`, operations: [allowed] };
        const client = await newConnectedUser(ctx, admin, `may-${allowed}`, [entry]);
        for (const operation of queueOperations.filter((one) => one !== allowed))
          await expectForbidden(ctx, client, operation, queue);
        await expectAllowed(ctx, client, allowed, queue);
      }
    },
  },
  // AUTH-016 (MUST): The broker allows a user the operations of an entry of its access list on the queues that the
  // pattern of the entry matches, and no others.
  {
    id: 'AUTH-016b',
    title: 'allows nothing on a queue that no pattern of the user matches',
    clauses: ['AUTH-016'],
    ...withUsers,
    evidence: { frames: 13, assertions: 6 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const own = await newQueue(ctx, admin, 'own');
      const other = await newQueue(ctx, admin, 'other');
      const client = await newConnectedUser(ctx, admin, 'user', [{ queuePattern: `${own}*`, operations }]);
      for (const operation of queueOperations) await expectForbidden(ctx, client, operation, other);
      for (const operation of queueOperations) await expectAllowed(ctx, client, operation, own);
    },
  },
  // AUTH-017 (MUST): The broker allows a superuser everything.
  {
    id: 'AUTH-017a',
    title: 'lets the superuser use every queue and send admin commands, without an access list',
    clauses: ['AUTH-017'],
    ...withUsers,
    evidence: { frames: 8, assertions: 6 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const queue = await newQueue(ctx, admin, 'any');
      for (const operation of queueOperations) await expectAllowed(ctx, admin, operation, queue);
      const answer = await admin.request(
        { command: Command.AdminListUsers, id: ctx.id() },
        { clause: 'AUTH-017' },
      );
      ctx.assert.equal(
        answer.commandName,
        'AdminListUsers',
        'the answer to an admin command of the superuser',
      );
    },
  },
  // AUTH-018 (MUST): The broker reads * in a pattern as any sequence of characters, full stops included, and every
  // other character as itself.
  {
    id: 'AUTH-018a',
    title: 'reads * in a pattern as any characters, also none, and everything else as itself',
    clauses: ['AUTH-018'],
    ...withUsers,
    evidence: { frames: 46, assertions: 22 },
    run: async (ctx) => {
      const base = ctx.queue('q');
      await expectMatches(ctx, [
        [`${base}.a.*`, `${base}.a.`, true],
        [`${base}.b.*`, `${base}.b.eu.west`, true],
        [`${base}.c*z`, `${base}.cz`, true],
        [`${base}.d*z`, `${base}.d.x.z`, true],
        [`${base}.e*m*z`, `${base}.e1m2m3z`, true],
        [`*${base}.f`, `${base}.f`, true],
        [`${base}.g`, `${base}.g`, true],
        [`${base}.h`, `${base}.hh`, false],
        [`${base}.i*z`, `${base}.izz.y`, false],
        [`${base}.j.x`, `${base}.j-x`, false],
        [`${base}.k?x`, `${base}.kyx`, false],
        [`${base}.l[xy]`, `${base}.lx`, false],
        [`${base}.m*n*o`, `${base}.mon`, false],
        [`x*${base}.n`, `${base}.n`, false],
        [`${base}.o*m*z`, `${base}.omz`, true],
        [`${base}.p**z`, `${base}.pz`, true],
        // What stands before the star and what stands behind it do not share characters.
        [`${base}.uaba*aba`, `${base}.uaba`, false],
        [`${base}.vaba*aba`, `${base}.vababa`, false],
        // The parts between stars stand in this order, each in a place of its own.
        [`${base}.q*m*n*z`, `${base}.qnmz`, false],
        [`${base}.r*m*m*z`, `${base}.rmz`, false],
        [`${base}.s*ab*bc*z`, `${base}.sabcz`, false],
        [`${base}.t*aab*z`, `${base}.taaabz`, true],
        // What stands behind the last star may stand in the name before its end too.
        [`${base}.w*.dlq`, `${base}.w.a.dlq.dlq`, true],
        [`${base}.x*m*s`, `${base}.xms.s`, true],
      ]);
    },
  },
  // AUTH-019 (MUST): The broker matches patterns case-insensitively.
  {
    id: 'AUTH-019a',
    title: 'matches patterns and queue names in any case',
    clauses: ['AUTH-019'],
    ...withUsers,
    evidence: { frames: 14, assertions: 6 },
    run: async (ctx) => {
      const base = ctx.queue('Orders');
      await expectMatches(ctx, [
        [`${base}.EU`.toUpperCase(), `${base}.EU`, true],
        [`${base}.us*`.toLowerCase(), `${base}.US.East`, true],
        [`${base}.x`.toUpperCase(), `${base}.y`, false],
        [`${base}.ÜBER`, `${base}.über`, true],
        [`${base}.заказы*`, `${base}.ЗАКАЗЫ-1`, true],
        [`${base}.ü`, `${base}.u`, false],
      ]);
    },
  },
  // AUTH-020 (MUST): When several patterns match a queue, the broker allows the operations of all of them.
  {
    id: 'AUTH-020a',
    title: 'allows the operations of all entries whose patterns match, also of those that begin or end alike',
    clauses: ['AUTH-020'],
    ...withUsers,
    evidence: { frames: 12, assertions: 4 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const queue = await newQueue(ctx, admin, 'orders');
      const client = await newConnectedUser(ctx, admin, 'user', [
        { queuePattern: `${queue.slice(0, -2)}*`, operations: ['Publish'] },
        { queuePattern: queue, operations: ['GetQueueInfo'] },
        { queuePattern: `*${queue.slice(2)}`, operations: ['Subscribe'] },
        // They begin or end like the first and the third.
        { queuePattern: `${queue.slice(0, -2)}*${queue.slice(-1)}`, operations: ['DeleteQueue'] },
        { queuePattern: `${queue.slice(0, 1)}*${queue.slice(2)}`, operations: ['CreateQueue'] },
      ]);
      for (const operation of ['Publish', 'GetQueueInfo', 'Subscribe', 'DeleteQueue'] as const)
        await expectAllowed(ctx, client, operation, queue);
    },
  },
  // AUTH-021 (SHOULD): The broker answers a command by Error NOT_AUTHORIZED, when the user lacks the right for it.
  {
    id: 'AUTH-021a',
    title: 'answers a command without its right with NOT_AUTHORIZED',
    clauses: ['AUTH-021'],
    ...withUsers,
    evidence: { frames: 10, assertions: 10 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const queue = await newQueue(ctx, admin, 'orders');
      const client = await newConnectedUser(ctx, admin, 'user', [{ queuePattern: 'none', operations }]);
      for (const operation of queueOperations) {
        const refusal = await expectRefused(
          ctx,
          client,
          commandFor(ctx, operation, queue),
          'the right is missing',
          ['AUTH-016', 'AUTH-022'],
        );
        ctx.assert.equal(
          refusal.error?.errorCode,
          'NOT_AUTHORIZED',
          `the error code without the right ${operation}`,
        );
      }
    },
  },
  // AUTH-022 (MUST): The broker does not carry out a command for which the user lacks the right.
  {
    id: 'AUTH-022a',
    title: 'stores, creates, deletes and delivers nothing for a user without the right',
    clauses: ['AUTH-022'],
    ...withUsers,
    evidence: { frames: 14, assertions: 8 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const queue = await newQueue(ctx, admin, 'orders');
      const client = await newConnectedUser(ctx, admin, 'user', []);
      for (const operation of ['Publish', 'Subscribe', 'DeleteQueue'] as const)
        await expectForbidden(ctx, client, operation, queue);
      await expectForbidden(ctx, client, 'CreateQueue', queue);
      const count = await messageCountOf(admin, newNameBeside(queue));
      ctx.assert.equal(count, undefined, 'messageCount of a queue that must not exist');
      ctx.assert.equal(await infoField(admin, queue, 'subscriberCount'), 0, 'subscriberCount of the queue');
      const text = 'messageCount of a queue after a Publish without the right';
      await expectNothingStored(ctx, admin, queue, { text, clause: 'AUTH-022' });
      await client.expectNothingBeforePong(
        'Deliver',
        'no message comes without the right Subscribe',
        'AUTH-022',
      );
    },
  },
  // AUTH-023 (MUST): When authorization is on, the broker omits from the answer to ListQueues every queue that no
  // pattern of the user matches.
  {
    id: 'AUTH-023a',
    title: 'lists to a user the queues of an entry with ListQueues, and none that no pattern matches',
    clauses: ['AUTH-023', 'AUTH-016'],
    ...withUsers,
    evidence: { frames: 9, assertions: 3 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const [own, also, other] = [ctx.queue('own.1'), ctx.queue('own.2'), ctx.queue('other')];
      for (const queue of [own, also, other]) await admin.createQueue(queue);
      const entry: Entry = { queuePattern: ctx.queue('own.*'), operations: ['ListQueues'] };
      const client = await newConnectedUser(ctx, admin, 'user', [entry]);
      // The answer to the superuser comes first, so that an answer that the broker keeps is seen too.
      ctx.assert.ok((await admin.listQueues()).includes(other), 'the superuser sees the other queue', {
        actual: other,
        clause: 'QUEUE-028',
      });
      const listed = await client.listQueues();
      const foreign = listed.filter((queue) => queue !== own && queue !== also);
      ctx.assert.deepEqual(foreign, [], 'the listed queues that no pattern of the user matches', 'AUTH-023');
      ctx.assert.deepEqual([...listed].sort(), [own, also], 'the listed queues', 'AUTH-016');
    },
  },
  // AUTH-023 (MUST): When authorization is on, the broker omits from the answer to ListQueues every queue that no
  // pattern of the user matches.
  {
    id: 'AUTH-023c',
    title: 'lists to a user what there is now, when queues and rights have changed since the last list',
    clauses: ['AUTH-023', 'AUTH-016'],
    ...withUsers,
    evidence: { frames: 12, assertions: 6 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const [first, second, granted] = [ctx.queue('own.1'), ctx.queue('own.2'), ctx.queue('granted')];
      for (const queue of [first, granted]) await admin.createQueue(queue);
      const entry: Entry = { queuePattern: ctx.queue('own.*'), operations: ['ListQueues'] };
      const user = await newUser(ctx, admin, 'user', [entry]);
      const expectListed = async (client: Connection, names: readonly string[], when: string) => {
        const listed = [...(await client.listQueues())].sort();
        const foreign = listed.filter((name) => !names.includes(name));
        ctx.assert.deepEqual(foreign, [], `what the user is shown beside its queues, ${when}`, 'AUTH-023');
        ctx.assert.deepEqual(listed, [...names].sort(), `the listed queues, ${when}`, 'AUTH-016');
      };
      const client = await connectAs(ctx, user);
      await expectListed(client, [first], 'at first');
      await admin.deleteQueue(first);
      await admin.createQueue(second);
      await expectListed(client, [second], 'after a deletion and a creation');
      await grant(admin, user, { queuePattern: granted, operations: ['ListQueues'] });
      // A broker may apply changed rights to new connections only.
      await expectListed(await connectAs(ctx, user), [second, granted], 'after a grant');
    },
  },
  // AUTH-023 (MUST): When authorization is on, the broker omits from the answer to ListQueues every queue that no
  // pattern of the user matches.
  {
    id: 'AUTH-023d',
    title: 'lists to each of two users that ask at the same time its own queues',
    clauses: ['AUTH-023', 'AUTH-016'],
    ...withUsers,
    evidence: { frames: 46, assertions: 40 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const clientOf = async (queue: string): Promise<Connection> => {
        await admin.createQueue(queue);
        return newConnectedUser(ctx, admin, `lists-${queue.slice(-1)}`, [
          { queuePattern: queue, operations: ['ListQueues'] },
        ]);
      };
      const names = [ctx.queue('a'), ctx.queue('b')];
      const clients = [await clientOf(names[0] ?? ''), await clientOf(names[1] ?? '')];
      for (let round = 1; round <= 20; round += 1) {
        const lists = await Promise.all(clients.map((client) => client.listQueues()));
        for (const [index, list] of lists.entries())
          ctx.assert.deepEqual(list, [names[index]], `what user ${index + 1} is shown in round ${round}`);
      }
    },
  },
  // AUTH-023 (MUST): When authorization is on, the broker omits from the answer to ListQueues every queue that no
  // pattern of the user matches.
  {
    id: 'AUTH-023b',
    title: 'shows to a user without ListQueues no queue that no pattern matches',
    clauses: ['AUTH-023'],
    ...withUsers,
    accepts: ['an Error', 'an empty list', 'the queues that a pattern of the user matches'],
    evidence: { frames: 6, assertions: 1 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const own = await newQueue(ctx, admin, 'own');
      await newQueue(ctx, admin, 'other');
      const client = await newConnectedUser(ctx, admin, 'user', [
        { queuePattern: own, operations: ['Publish'] },
      ]);
      const answer = await client.request(
        { command: Command.ListQueues, id: ctx.id() },
        { clause: 'AUTH-023' },
      );
      const shown = answer.command === Command.Error ? [] : answer.json();
      ctx.acceptable(
        shown,
        [
          { title: 'no queue', when: (queues) => isListOf(queues, []) },
          { title: 'the queue that a pattern matches', when: (queues) => isListOf(queues, [own]) },
        ],
        'the queues that a user without ListQueues sees',
      );
    },
  },
  // AUTH-030 (MAY): The broker creates a missing queue for a Publish or Subscribe of a user that lacks the right
  // CreateQueue.
  {
    id: 'AUTH-030a',
    title: 'creates the missing queue for a Publish without the right CreateQueue, or refuses the Publish',
    clauses: ['AUTH-030', 'AUTH-022'],
    ...withUsers,
    accepts: ['PublishAck, and the queue exists', 'an Error, and the queue does not exist'],
    evidence: { frames: 5, assertions: 1 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const queue = ctx.queue('missing');
      const client = await newConnectedUser(ctx, admin, 'user', [
        { queuePattern: queue, operations: ['Publish'] },
      ]);
      const publish = commandFor(ctx, 'Publish', queue);
      const answer = await client.request(publish, { clause: 'AUTH-030' });
      const count = await messageCountOf(admin, queue);
      const isCreated = answer.command === Command.PublishAck;
      ctx.assert.equal(
        count,
        isCreated ? 1 : undefined,
        `messageCount of the queue after ${answer.commandName}`,
      );
    },
  },
  // AUTH-034 (MUST): The broker reads and writes the operations of an access list as the names Publish, Subscribe,
  // CreateQueue, DeleteQueue, PurgeQueue, GetQueueInfo and ListQueues.
  {
    id: 'AUTH-034a',
    title: 'reads and writes all operations of an entry as their names',
    clauses: ['AUTH-034'],
    ...withUsers,
    evidence: { frames: 4, assertions: 1 },
    run: async (ctx) => {
      const admin = await connectAsSuperuser(ctx);
      const user = await newUser(ctx, admin, 'user', [{ queuePattern: '*', operations }]);
      const { username } = user;
      const [entry] = (await admin.admin('AdminGetUserPermissions', { username })) as readonly Entry[];
      ctx.assert.deepEqual(
        [...(entry?.operations ?? [])].sort(),
        [...operations].sort(),
        'the operations of the entry',
      );
    },
  },
] satisfies readonly Check[];

/** CreateQueue names a queue that does not exist, because a broker may refuse to create an existing one. */
function commandFor(ctx: CheckContext, operation: QueueOperation, queue: string): FrameFields {
  const command = commandOf[operation];
  const name = operation === 'CreateQueue' ? newNameBeside(queue) : queue;
  const content = operation === 'Publish' ? { payload: '"published"' } : {};
  return { command, id: ctx.id(operation), queue: name, ...content };
}

function newNameBeside(queue: string): string {
  return `${queue}.new`;
}

async function expectAllowed(
  ctx: CheckContext,
  client: Connection,
  operation: QueueOperation,
  queue: string,
): Promise<void> {
  const answer = await client.request(commandFor(ctx, operation, queue));
  ctx.assert.ok(
    answer.command !== Command.Error,
    `the broker carries out a command with the right ${operation}`,
    {
      expected: 'the positive answer',
      actual: frameText(answer),
    },
  );
}

async function expectForbidden(
  ctx: CheckContext,
  client: Connection,
  operation: QueueOperation,
  queue: string,
): Promise<void> {
  const command = commandFor(ctx, operation, queue);
  await expectRefused(ctx, client, command, `the user lacks the right ${operation}`);
}

type Match = readonly [pattern: string, queue: string, isMatch: boolean];

/** Asserts for each pattern whether it matches the queue. No pattern may match the queue of another row. */
async function expectMatches(ctx: CheckContext, matches: readonly Match[]): Promise<void> {
  const admin = await connectAsSuperuser(ctx);
  for (const [, queue] of matches) await admin.createQueue(queue);
  const entries = matches.map(([queuePattern]): Entry => ({ queuePattern, operations: ['GetQueueInfo'] }));
  const client = await newConnectedUser(ctx, admin, 'user', entries);
  for (const [pattern, queue, isMatch] of matches) {
    const answer = await client.request({ command: Command.QueueInfo, id: ctx.id(), queue });
    const isAllowed = answer.command !== Command.Error;
    ctx.assert.ok(isAllowed === isMatch, `whether pattern ${pattern} allows GetQueueInfo on ${queue}`, {
      expected: isMatch,
      actual: isAllowed,
      possibleCauses: ['AUTH-016', 'AUTH-022'],
    });
  }
}

function isListOf(value: unknown, names: readonly string[]): boolean {
  return Array.isArray(value) && value.length === names.length && names.every((name) => value.includes(name));
}
