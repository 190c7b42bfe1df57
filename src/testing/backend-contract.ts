// The contract suite of backends: each promise of backend/backend.ts as a case that throws if it is broken.

import assert from 'node:assert/strict';
import { type BackendStatistics, StartCancelled } from '../backend/backend.ts';
import type { ConnectionId, Input } from '../broker/interface/input.ts';
import type { QueueFigures } from '../model/queue-info.ts';
import { BackendRun, barrier, connected, type NewBackend, publish, subscribe } from './backend-run.ts';
import { Random } from './simulation/random.ts';

export type BackendCase = {
  readonly name: string;
  /** Rejects when the backend does not keep the promise. */
  readonly run: (newBackend: NewBackend) => Promise<void>;
};

export const backendContract: readonly BackendCase[] = [
  { name: 'serves when start resolves', run: servesAfterStart },
  { name: 'rejects start with the error that prevented it', run: rejectsStart },
  { name: 'drops inputs before it serves', run: dropsEarlyInputs },
  { name: 'has no effect within submit', run: noEffectWithinSubmit },
  { name: 'answers each connection in order, and a barrier after everything before it', run: answersInOrder },
  { name: 'sends nothing to a connection after its last barrier', run: nothingAfterLastBarrier },
  { name: 'reports every input as processed once, in order', run: processedOnceInOrder },
  { name: 'brings its snapshots up to date', run: snapshots },
  { name: 'drains: takes acks and answers barriers, refuses other commands', run: drains },
  {
    name: 'refuses publishes whose commit is unknown, and says then that it has failed',
    run: refusesBeforeFailed,
  },
  { name: 'drops inputs while it has failed', run: dropsWhileFailed },
  { name: 'starts again after a failure, without the connections of before', run: forgetsConnections },
  { name: 'has counters that never fall, over a failure too', run: countersNeverFall },
  { name: 'has no figures of queues while it does not serve', run: noFiguresOutOfService },
  { name: 'goes on with the figures of its queues after a failure', run: figuresGoOn },
  { name: 'keeps what it has answered, and says nothing after it was closed', run: closes },
  { name: 'closes while it starts', run: closesWhileStarting },
  { name: 'closes while it has failed, and does not come back', run: closesWhileFailed },
];

async function servesAfterStart(newBackend: NewBackend): Promise<void> {
  const run = new BackendRun(newBackend);
  assert.equal(run.backend.state.kind, 'recovering');
  const started = run.start();
  await run.wait();
  await started;
  assert.equal(run.backend.state.kind, 'serving');
  assert.deepEqual(run.states(), ['serving']);
}

async function rejectsStart(newBackend: NewBackend): Promise<void> {
  const run = new BackendRun(newBackend);
  run.disk.hasFailed = true;
  await Promise.all([assert.rejects(run.start(), /the disk has failed/), run.wait()]);
  assert.deepEqual(run.events, []);
}

async function dropsEarlyInputs(newBackend: NewBackend): Promise<void> {
  const run = new BackendRun(newBackend);
  run.submit(connected(1), barrier(1, 'early'));
  const started = run.start();
  await run.wait();
  await started;
  const late = [connected(2), barrier(2, 'late')];
  await run.exchange(...late);
  assert.deepEqual([run.answers(1), run.answers(2)], [[], ['late']]);
  assert.deepEqual(run.processed(), late);
}

async function noEffectWithinSubmit(newBackend: NewBackend): Promise<void> {
  const run = await BackendRun.serving(newBackend);
  let count = run.events.length;
  run.onEvent = ({ kind }) => {
    if (kind !== 'effect' || run.events.length > 20) return;
    count = run.events.length;
    run.submit(barrier(1, 'within an effect'));
    assert.equal(run.events.length, count, 'an event within submit, within an effect');
  };
  run.submit(connected(1), publish(1, 'm1'), subscribe(1, 's'), barrier(1, 'b'));
  assert.equal(run.events.length, count, 'an event within submit');
  await run.wait();
  assert.ok(run.answers(1).includes('within an effect'));
}

const CONNECTIONS = [1, 2, 3];

/** Submits commands of three connections, a few at a time; returns the tokens of each connection. */
async function converse(run: BackendRun): Promise<readonly (readonly string[])[]> {
  const random = new Random(7);
  const tokens: readonly string[][] = [[], [], []];
  run.submit(...CONNECTIONS.map(connected));
  for (let number = 1; number <= 60; number += 1) {
    const connection = random.pick(CONNECTIONS);
    const token = `${number}`;
    tokens[connection - 1]?.push(token);
    const queue = random.pick(['q', 'r']);
    const commands: readonly Input[] = [
      publish(connection, token, queue),
      barrier(connection, token),
      { kind: 'queueInfo', connection, token, queue },
      { kind: 'listQueues', connection, token },
      subscribe(connection, token, queue),
    ];
    run.submit(random.pick(commands));
    if (random.chance(0.5)) await run.wait(random.whole(0, 3));
  }
  await run.wait();
  return tokens;
}

async function answersInOrder(newBackend: NewBackend): Promise<void> {
  const run = await BackendRun.serving(newBackend);
  const tokens = await converse(run);
  for (const connection of CONNECTIONS) assert.deepEqual(run.answers(connection), tokens[connection - 1]);
}

async function nothingAfterLastBarrier(newBackend: NewBackend): Promise<void> {
  const run = await BackendRun.serving(newBackend);
  run.submit(connected(1), connected(2), subscribe(1, 's'), publish(2, 'm1'));
  run.submit({ kind: 'disconnected', connection: 1 }, barrier(1, 'last'), publish(2, 'm2'));
  await run.wait();
  assert.deepEqual(run.answers(1), ['s', 'last']);
  assert.equal(run.effectKinds(1).at(-1), 'answered');
  assert.deepEqual(run.answers(2), ['m1', 'm2']);
}

async function processedOnceInOrder(newBackend: NewBackend): Promise<void> {
  const run = await BackendRun.serving(newBackend);
  const submitted: Input[] = [];
  const submit = run.backend.submit.bind(run.backend);
  run.backend.submit = (input) => {
    submitted.push(input);
    submit(input);
  };
  await converse(run);
  assert.ok(submitted.length > 60);
  assert.deepEqual(run.processed(), submitted);
}

async function snapshots(newBackend: NewBackend): Promise<void> {
  const run = await BackendRun.serving(newBackend);
  await run.exchange(connected(1), publish(1, 'm1'), publish(1, 'm2'), publish(1, 'm3', 'r'));
  // A remote backend may have to request what was not requested before.
  for (const queue of ['q', 'none']) run.backend.queueInfo(queue);
  run.backend.largestQueues(1);
  run.backend.queueFigures();
  for (const queue of ['q', 'none']) run.backend.subscriberFigures(queue, 1);
  await run.wait();
  assert.equal(run.backend.queueInfo('q')?.messageCount, 2);
  assert.equal(run.backend.queueInfo('none'), undefined);
  const largest = { queues: [run.backend.queueInfo('q')], waitingCount: 3 };
  assert.deepEqual(run.backend.largestQueues(1), largest);
  const [q, r, ...others] = run.backend.queueFigures() ?? [];
  assert.deepEqual([q?.name, q?.enteredCount, r?.name, r?.enteredCount, others], ['q', 2, 'r', 1, []]);
  assert.deepEqual(
    [run.backend.subscriberFigures('q', 1), run.backend.subscriberFigures('none', 1)],
    [[], []],
  );
  const { publishedCount, queueCount } = run.backend.statistics();
  assert.deepEqual({ publishedCount, queueCount }, { publishedCount: 3, queueCount: 2 });
}

async function drains(newBackend: NewBackend): Promise<void> {
  const run = await BackendRun.serving(newBackend);
  await run.exchange(connected(1), subscribe(1, 's'), publish(1, 'm1'));
  const ack: Input = { kind: 'acknowledge', connection: 1, id: 'm1' };
  await run.exchange({ kind: 'drain' }, publish(1, 'm2'), barrier(1, 'b1'), ack, barrier(1, 'b2'));
  assert.equal(run.backend.state.kind, 'draining');
  assert.deepEqual(run.states(), ['serving', 'draining']);
  assert.deepEqual(run.answers(1), ['s', 'm1', 'm2 SHUTTING_DOWN', 'b1', 'b2']);
  assert.deepEqual(run.effectKinds(1).slice(-3), ['answered', 'close', 'answered']);
  assert.equal(run.backend.statistics().acknowledgedCount, 1);
}

/** Publishes until after the store has failed; returns the tokens submitted while the backend served. */
async function publishUntilFailed(run: BackendRun, connection: ConnectionId): Promise<readonly string[]> {
  const taken: string[] = [];
  await run.exchange(connected(connection), publish(connection, 'first'));
  run.disk.isFull = true;
  for (let number = 1; number <= 40; number += 1) {
    if (run.backend.state.kind === 'serving') taken.push(`m${number}`);
    run.submit(publish(connection, `m${number}`), barrier(connection, `b${number}`));
    await run.wait(1);
  }
  return taken;
}

/** Twice, because state of one life must not affect the next one. */
async function refusesBeforeFailed(newBackend: NewBackend): Promise<void> {
  const run = await BackendRun.serving(newBackend);
  for (const connection of [1, 2]) {
    const taken = await publishUntilFailed(run, connection);
    assert.deepEqual(
      run.answers(connection).filter((answer) => !answer.startsWith('b')),
      ['first', ...taken.map((token) => `${token} STORAGE_ERROR`)],
    );
    const failedAt = run.events.findLastIndex(({ kind }) => kind === 'state');
    const late = run.events.slice(failedAt).map(({ kind }) => kind);
    assert.deepEqual(late, ['state'], 'after it has failed');
    run.disk.isFull = false;
    await run.wait(20_000);
  }
  assert.deepEqual(run.states(), ['serving', 'failed', 'serving', 'failed', 'serving']);
}

async function dropsWhileFailed(newBackend: NewBackend): Promise<void> {
  const run = await BackendRun.serving(newBackend);
  run.disk.isFull = true;
  await run.exchange(connected(1), publish(1, 'm1'));
  assert.equal(run.backend.state.kind, 'failed');
  run.submit(connected(2), barrier(2, 'b'));
  run.disk.isFull = false;
  await run.wait(20_000);
  assert.equal(run.backend.state.kind, 'serving');
  assert.deepEqual(run.answers(2), []);
}

async function forgetsConnections(newBackend: NewBackend): Promise<void> {
  const run = await BackendRun.serving(newBackend);
  await run.exchange(connected(1), subscribe(1, 's'), publish(1, 'm0', 'r'));
  await run.failAndRecover();
  assert.deepEqual(run.states(), ['serving', 'failed', 'serving']);
  const [effects, inputs] = [run.effectKinds(1), run.processed()];
  const ofNewLife = [connected(2), publish(2, 'm1'), subscribe(2, 't', 'r')];
  await run.exchange(...ofNewLife);
  assert.deepEqual(run.effectKinds(1), effects);
  assert.deepEqual(run.processed(), [...inputs, ...ofNewLife]);
  assert.deepEqual(run.effectKinds(2), ['answered', 'answered', 'deliver']);
}

const counters = ['publishedCount', 'deliveredCount', 'firstDeliveryCount'] as const;

async function countersNeverFall(newBackend: NewBackend): Promise<void> {
  const run = await BackendRun.serving(newBackend);
  const seen: BackendStatistics[] = [];
  run.onEvent = () => void seen.push(run.backend.statistics());
  await run.exchange(connected(1), subscribe(1, 's'), publish(1, 'm1'), publish(1, 'm2'));
  await run.failAndRecover();
  await run.exchange(connected(2), subscribe(2, 't'), publish(2, 'm3'));
  seen.push(run.backend.statistics());
  for (const counter of counters) {
    const values = seen.map((statistics) => statistics[counter]);
    assert.deepEqual(
      values,
      [...values].sort((one, other) => one - other),
      counter,
    );
    assert.ok((values.at(-1) ?? 0) >= 3, `${counter} is ${values.at(-1)}`);
  }
}

async function noFiguresOutOfService(newBackend: NewBackend): Promise<void> {
  const run = new BackendRun(newBackend);
  const shown = () => [run.backend.queueFigures(), run.backend.subscriberFigures('q', 1)];
  assert.deepEqual(shown(), [undefined, undefined], 'before it serves');
  const started = run.start();
  await run.wait();
  await started;
  await run.exchange(connected(1), subscribe(1, 's'));
  shown();
  await run.wait();
  assert.deepEqual(run.backend.subscriberFigures('q', 1), [{ connection: 1, inFlightCount: 0, window: 8 }]);
  run.disk.isFull = true;
  await run.exchange(publish(1, 'm1'));
  assert.deepEqual([run.backend.state.kind, ...shown()], ['failed', undefined, undefined]);
}

/** One queue is deleted before the store fails, and another one created when it works again. */
async function figuresGoOn(newBackend: NewBackend): Promise<void> {
  const run = await BackendRun.serving(newBackend);
  await run.exchange(connected(1), publish(1, 'm1'), subscribe(1, 's'), publish(1, 'm2', 'short'));
  const before = await figures(run);
  await run.exchange({ kind: 'deleteQueue', connection: 1, token: 'd', queue: 'short' });
  await run.failAndRecover();
  await run.exchange(connected(2), publish(2, 'm3'), publish(2, 'm4', 'new'));
  const after = await figures(run);
  assert.deepEqual(
    [before.map(({ name }) => name), after.map(({ name }) => name)],
    [
      ['q', 'short'],
      ['q', 'new'],
    ],
  );
  const [[earlier], [later]] = [before, after];
  assert.equal(later?.id, earlier?.id, 'the queue has another id');
  for (const counter of ['enteredCount', 'deliveredCount'] as const)
    assert.ok((later?.[counter] ?? 0) >= (earlier?.[counter] ?? 1), `${counter} has fallen`);
  assert.notEqual(after[1]?.id, before[1]?.id, 'an id is used again');
}

async function figures(run: BackendRun): Promise<readonly QueueFigures[]> {
  run.backend.queueFigures();
  await run.wait();
  return run.backend.queueFigures() ?? [];
}

async function closes(newBackend: NewBackend): Promise<void> {
  const run = await BackendRun.serving(newBackend);
  await run.exchange(connected(1), publish(1, 'm1'));
  run.submit(publish(1, 'm2'));
  const closed = run.backend.close();
  assert.equal(run.backend.state.kind, 'closed');
  const { length } = run.events;
  assert.equal(run.backend.close(), closed, 'a later call returns another promise');
  run.submit(publish(1, 'm3'));
  await run.wait();
  await closed;
  assert.deepEqual(run.states(), ['serving', 'closed']);
  assert.equal(run.events.length, length, 'an event after it was closed');
  assert.equal(run.environment.timerCount, 0, 'a timer is left');
  assert.deepEqual([run.disk.openCount, run.disk.closeCount], [1, 1]);
  assert.ok(run.disk.kept.recovered().some((record) => record.kind === 'message' && record.id === 'm1'));
}

async function closesWhileStarting(newBackend: NewBackend): Promise<void> {
  const run = new BackendRun(newBackend);
  const rejected = assert.rejects(run.start(), StartCancelled);
  await Promise.all([rejected, run.backend.close(), run.wait()]);
  assert.deepEqual([run.backend.state.kind, run.states()], ['closed', ['closed']]);
  assert.equal(run.disk.openCount, run.disk.closeCount);
}

async function closesWhileFailed(newBackend: NewBackend): Promise<void> {
  const run = await BackendRun.serving(newBackend);
  run.disk.isFull = true;
  await run.exchange(connected(1), publish(1, 'm1'));
  const closed = run.backend.close();
  await run.wait();
  await closed;
  run.disk.isFull = false;
  await run.wait(20_000);
  assert.deepEqual(run.states(), ['serving', 'failed', 'closed']);
  assert.equal(run.disk.openCount, run.disk.closeCount);
}
