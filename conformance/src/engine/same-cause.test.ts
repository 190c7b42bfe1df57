// When a run is stopped because all its checks fail for one reason.
import { describe, expect, it } from 'vitest';
import { sampleResult } from '../testing/sample-log.ts';
import { SameCauseWatch, sameCauseNote, someOfEachAreaFirst } from './same-cause.ts';

const silent = { reason: 'ConnectAck did not come', expected: 'ConnectAck', reliesOn: 'CONN-005' };

describe('the watch for one cause', () => {
  it('is reached by so many different checks that failed at one step', () => {
    const watch = new SameCauseWatch(3);
    for (const id of ['CONN-001a', 'CONN-002a', 'CONN-002a']) watch.add(sampleResult(id, 'fail', silent));
    expect(watch.reached).toBeUndefined();
    watch.add(sampleResult('CONN-003a', 'not applicable', silent));
    expect(watch.reached).toEqual({ checkCount: 3, reason: silent.reason, clause: 'CONN-005' });
  });

  it('compares the reasons where the step has no requirement', () => {
    const watch = new SameCauseWatch(2);
    const refused = { reason: 'the broker accepts a TCP connection', expected: 'a connection' };
    watch.add(sampleResult('CONN-001a', 'fail', refused));
    watch.add(sampleResult('CONN-002a', 'fail', { ...refused, reason: 'Pong did not come' }));
    expect(watch.reached).toBeUndefined();
    watch.add(sampleResult('CONN-003a', 'warn', refused));
    expect(watch.reached).toEqual({ checkCount: 2, reason: refused.reason });
  });

  it('is reached later on a broker that answers: it may be able to do something else', () => {
    const trace = [
      { atMs: 1, connection: 'A', kind: 'received', text: 'ConnectAck', hex: '', byteCount: 0 },
    ] as const;
    const watch = new SameCauseWatch(2);
    const add = (index: number, more: object): void =>
      watch.add(sampleResult(`CONN-${index + 100}a`, 'fail', { ...silent, trace, ...more }));
    for (let index = 0; index < 7; index += 1) add(index, { reliesOn: 'DELIVERY-011' });
    expect(watch.reached).toBeUndefined();
    add(7, { reliesOn: 'DELIVERY-011' });
    expect(watch.reached?.checkCount).toBe(8);
    const echoing = new SameCauseWatch(2);
    for (const id of ['CONN-001a', 'CONN-002a']) echoing.add(sampleResult(id, 'fail', { ...silent, trace }));
    expect(echoing.reached?.checkCount).toBe(2);
  });

  it('is never reached once a check has passed, nor without a limit', () => {
    const passed = new SameCauseWatch(1);
    passed.add(sampleResult('CONN-001a', 'pass'));
    passed.add(sampleResult('CONN-002a', 'fail', silent));
    const unlimited = new SameCauseWatch(undefined);
    for (let index = 100; index < 200; index += 1)
      unlimited.add(sampleResult(`CONN-${index}a`, 'fail', silent));
    expect([passed.reached, unlimited.reached]).toEqual([undefined, undefined]);
  });

  it('does not count what does not apply to the target, or could not run', () => {
    const watch = new SameCauseWatch(1);
    watch.add(sampleResult('CONN-001a', 'not applicable', { reason: 'the target does not declare nack' }));
    watch.add(sampleResult('CONN-002a', 'could not run', { reason: 'the target cannot be restarted' }));
    expect(watch.reached).toBeUndefined();
  });
});

it('says what to run next, as one command line', () => {
  const cause = { checkCount: 3, reason: silent.reason, clause: 'CONN-005' };
  expect(
    sameCauseNote(cause, {
      sentence: 'The broker answers.',
      targetPath: 'my target.yaml',
      givenCredentials: [['token-file', 'token.txt']],
      timeoutScale: 2,
      notReachedCount: 9,
    }),
  ).toBe(
    "the run was stopped: 3 checks failed for the same reason and none passed (ConnectAck did not come); 9 were not reached. They need CONN-005: The broker answers. To find the cause: truemq-conformance doctor --target 'my target.yaml' --token-file token.txt --timeout-scale 2",
  );
});

it('puts some checks of each area first, and leaves out none', () => {
  const entries = ['A-1', 'A-2', 'A-3', 'A-4', 'B-1', 'C-1'].map((id) => ({ check: { id } }));
  expect(someOfEachAreaFirst(entries).map(({ check }) => check.id)).toEqual([
    'A-1',
    'A-2',
    'B-1',
    'C-1',
    'A-3',
    'A-4',
  ]);
});
