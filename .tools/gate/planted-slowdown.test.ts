// The planted slowdown: it burns the share that the gate must find, and nothing while no bytes pass. The clock is the test's.
import { describe, expect, it } from 'vitest';
import { Peer } from './peer.ts';
import { SlowService } from './planted-slowdown.ts';

/** Looking at the clock takes a microsecond, so that a loop which waits for it ends. */
class LookedAtClock {
  nowMs = 0;

  readonly look = (): number => {
    this.nowMs += 0.001;
    return this.nowMs;
  };
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a slow service', () => {
  it('takes a fifth longer for what it does with bytes', async () => {
    const clock = new LookedAtClock();
    const peer = new Peer();
    const work = (attached: Peer) => void attached.on('data', () => (clock.nowMs += 100));
    new SlowService({ attach: work }, clock.look).attach(peer);
    await nextTurn();
    expect(clock.nowMs).toBe(0);
    peer.send(Buffer.from('a'));
    for (let turn = 0; turn < 10; turn += 1) await nextTurn();
    expect(clock.nowMs).toBeCloseTo(120, 0);
  });
});
