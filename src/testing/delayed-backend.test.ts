// The delayed backend before a scripted remote one: failures, drains and closes while inputs or effects are in transit.
// backend/backend-contract.test.ts shows that it keeps the contract of all backends.

import { describe, expect, it } from 'vitest';
import type { Backend, BackendReceiver, BackendState, BackendStatistics } from '../backend/backend.ts';
import type { Input } from '../broker/interface/input.ts';
import { emptyStats } from '../broker/interface/stats.ts';
import type { QueueInfo } from '../model/queue-info.ts';
import { BackendRun, barrier, connected, publish } from './backend-run.ts';
import { DelayedBackend } from './delayed-backend.ts';

/** Delay of each direction. */
const WAY_MS = 10;

/** Does nothing by itself. */
class ScriptedBackend implements Backend {
  readonly inputs: Input[] = [];
  state: BackendState = { kind: 'recovering' };
  publishedCount = 0;
  queueNames: readonly string[] = [];
  closeFails = false;
  readonly commitMs = 0;
  #receiver: BackendReceiver | undefined;

  get receiver(): BackendReceiver {
    if (this.#receiver === undefined) throw new Error('It has not started.');
    return this.#receiver;
  }

  async start(receiver: BackendReceiver): Promise<void> {
    this.#receiver = receiver;
    this.moveTo({ kind: 'serving' });
  }

  submit(input: Input): void {
    if (this.state.kind === 'serving') this.inputs.push(input);
  }

  queueInfo(name: string): QueueInfo | undefined {
    return this.queueNames.includes(name) ? ({ name } as QueueInfo) : undefined;
  }

  largestQueues(): undefined {
    return undefined;
  }

  queueFigures(): undefined {
    return undefined;
  }

  subscriberFigures(): undefined {
    return undefined;
  }

  statistics(): BackendStatistics {
    const { publishedCount } = this;
    const deliveryLatency = { boundsMs: [], counts: [0], sumMs: 0 };
    return { ...emptyStats(), publishedCount, queueCount: 0, averageDeliveryLatencyMs: 0, deliveryLatency };
  }

  async close(): Promise<void> {
    this.moveTo({ kind: 'closed' });
    if (this.closeFails) throw new Error('the disk has failed');
  }

  moveTo(state: BackendState): void {
    this.state = state;
    this.#receiver?.stateChanged(state);
  }

  fail(): void {
    this.moveTo({ kind: 'failed', reason: 'the disk is full' });
  }

  answer(token: string, connection = 1): void {
    this.receiver.effects([{ kind: 'answered', connection, token }]);
  }
}

/** Both serve. */
async function party() {
  const remote = new ScriptedBackend();
  const run = await BackendRun.serving(
    ({ environment }) =>
      new DelayedBackend({ environment, remote, seed: 1, minDelayMs: WAY_MS, maxDelayMs: WAY_MS }),
  );
  return { remote, run };
}

describe('a delayed backend', () => {
  it('hands inputs over and brings effects back in order, each after its way', async () => {
    const { remote, run } = await party();
    const inputs = [connected(1), barrier(1, 'a'), barrier(1, 'b')];
    run.submit(...inputs);
    await run.wait(WAY_MS - 1);
    expect(remote.inputs).toEqual([]);
    await run.wait(1);
    expect(remote.inputs).toEqual(inputs);
    remote.answer('a');
    remote.answer('b');
    remote.receiver.processed([...inputs, { kind: 'tick' }]);
    await run.wait(WAY_MS - 1);
    expect(run.answers(1)).toEqual([]);
    await run.wait(1);
    expect(run.answers(1)).toEqual(['a', 'b']);
    expect(run.processed()).toEqual(inputs);
  });

  it('refuses what was on its way to a remote one that has failed, and nothing that this one has refused', async () => {
    const { remote, run } = await party();
    run.submit(connected(1), publish(1, 'arrives'));
    await run.wait(WAY_MS);
    run.submit(barrier(1, 'b'), publish(1, 'is on its way'));
    remote.receiver.effects([
      { kind: 'refused', connection: 1, token: 'arrives', code: 'STORAGE_ERROR', text: '' },
    ]);
    remote.fail();
    run.submit(publish(1, 'comes too late'));
    expect(run.backend.state.kind).toBe('serving');
    await run.wait();
    expect(run.answers(1)).toEqual(
      ['arrives', 'is on its way', 'comes too late'].map((token) => `${token} STORAGE_ERROR`),
    );
    expect(run.events.at(-1)).toEqual({ kind: 'state', state: remote.state });
    expect(remote.inputs.length).toBe(2);
  });

  it('keeps what was meant for one life from the next one', async () => {
    const { remote, run } = await party();
    run.submit(connected(1), publish(1, 'old'));
    remote.fail();
    remote.moveTo({ kind: 'serving' });
    await run.wait();
    expect(run.states()).toEqual(['serving', 'failed', 'serving']);
    expect(run.answers(1)).toEqual(['old STORAGE_ERROR']);
    expect(remote.inputs).toEqual([]);
    const ofNewLife = [connected(2), publish(2, 'new')];
    await run.exchange(...ofNewLife);
    remote.receiver.processed(ofNewLife);
    await run.wait();
    expect(remote.inputs).toEqual(ofNewLife);
    expect(run.processed()).toEqual(ofNewLife);
  });

  it('brings the last effects of a life before its end', async () => {
    const { remote, run } = await party();
    await run.exchange(connected(1), publish(1, 'm'));
    remote.answer('m');
    remote.receiver.processed(remote.inputs);
    remote.fail();
    await run.wait();
    expect(run.events.map(({ kind }) => kind)).toEqual([
      'state',
      'effect',
      'processed',
      'processed',
      'state',
    ]);
  });

  it('drains from the request on, and serves again when a failure ended the drained life', async () => {
    const { remote, run } = await party();
    run.submit({ kind: 'drain' });
    expect(run.backend.state.kind).toBe('draining');
    remote.fail();
    remote.moveTo({ kind: 'serving' });
    await run.wait();
    expect(run.states()).toEqual(['serving', 'draining', 'failed', 'serving']);
    expect(remote.inputs).toEqual([]);
  });

  it('has the snapshots that the last report has brought', async () => {
    const { remote, run } = await party();
    remote.publishedCount = 5;
    remote.queueNames = ['q'];
    expect(run.backend.queueInfo('q')).toBeUndefined();
    await run.wait();
    expect(run.backend.queueInfo('q')).toEqual({ name: 'q' });
    expect(run.backend.statistics().publishedCount).toBe(5);
    remote.queueNames = [];
    remote.answer('x');
    expect(run.backend.queueInfo('q')).toEqual({ name: 'q' });
    await run.wait();
    expect(run.backend.queueInfo('q')).toBeUndefined();
  });

  it('is closed when the remote one is, and brings nothing any more that was on its way', async () => {
    const { remote, run } = await party();
    remote.answer('late');
    let isClosed = false;
    const closed = run.backend.close().then(() => {
      isClosed = true;
    });
    await run.wait(2 * WAY_MS - 1);
    expect([remote.state.kind, isClosed]).toEqual(['closed', false]);
    await run.wait(1);
    await closed;
    expect(run.answers(1)).toEqual([]);
    expect(run.states()).toEqual(['serving', 'closed']);
    expect(run.environment.timerCount).toBe(0);
  });

  it('rejects close when the remote one does', async () => {
    const { remote, run } = await party();
    remote.closeFails = true;
    const closing = expect(run.backend.close()).rejects.toThrow('the disk has failed');
    await run.wait();
    await closing;
  });
});
