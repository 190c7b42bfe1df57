// A broker beside hostile clients, in a short form: it lives, completes the normal workload and keeps to its memory. `npm run hostile` runs the
// attacks at full strength and reports the times, which no test judges.

import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { getPriority } from 'node:os';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { attackComplaints } from './attack-complaints.ts';
import { attackNames } from './attacks.ts';
import { loginComplaints } from './login-flood.ts';
import { letGoFirst } from './priority.ts';
import { bundlePrograms } from './programs.ts';
import { type AttackResult, BOUND_BYTES, runAttack } from './run-attack.ts';

const MESSAGE_COUNT = 100;

/** 64 MiB are over every limit; to make 1 GiB takes seconds. */
const shortAttacks = attackNames.filter((name) => name !== 'large-bombs');

const folder = `out/hostile-${process.pid}`;
const programs = await bundlePrograms(folder);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a broker', () => {
  const load = { programs, scale: 0.1, messageCount: MESSAGE_COUNT, perSecond: 200, isMeasured: false };

  it.each(shortAttacks)('serves its normal clients beside the attack %s', async (attack) => {
    const result = await runAttack({ attack, limitsRates: false, ...load });
    expect(attackComplaints(result, MESSAGE_COUNT)).toEqual([]);
  });

  it('serves its normal clients also where rates are limited', async () => {
    const result = await runAttack({ attack: 'never-reads-acks', limitsRates: true, ...load });
    expect(attackComplaints(result, MESSAGE_COUNT)).toEqual([]);
  });
});

describe('a measured process', () => {
  const started = (): number => {
    const child = spawn('sleep', ['60'], { stdio: 'ignore' });
    onTestFinished(() => void child.kill('SIGKILL'));
    return child.pid ?? 0;
  };
  /** 0: as usual, 1: of real time. */
  const policyOf = (pid: number): number => {
    const afterName = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1) ?? '';
    return Number(afterName.split(' ')[38]);
  };

  it('has a priority of real time if the system allows one, which is said', () => {
    const pid = started();
    expect(policyOf(pid)).toBe(0);
    const isAllowed = spawnSync('chrt', ['--fifo', '1', 'true']).status === 0;
    expect(letGoFirst([pid], 'realTime')).toBe(isAllowed);
    expect(policyOf(pid)).toBe(isAllowed ? 1 : 0);
  });

  it('has the highest usual priority if the system allows it, which is said', () => {
    const pid = started();
    const usual = getPriority(pid);
    expect(usual).toBeGreaterThan(-20);
    const isAllowed = spawnSync('renice', ['-n', '-20', '-p', String(started())]).status === 0;
    expect(letGoFirst([pid], 'highest')).toBe(isAllowed);
    expect(getPriority(pid)).toBe(isAllowed ? -20 : usual);
  });

  it.each(['realTime', 'highest'] as const)('has none if it has ended, which is said: %s', (precedence) => {
    expect(letGoFirst([started(), 2 ** 22 + 1], precedence)).toBe(false);
  });
});

describe('the judge of logins', () => {
  const good = {
    wrong: {
      RATE_LIMITED: { count: 9, longestMs: 100, lateCount: 0 },
      NOT_AUTHENTICATED: { count: 1, longestMs: 5000, lateCount: 0 },
    },
    right: { ConnectAck: { count: 3, longestMs: 2000, lateCount: 0 } },
    rightBegunCount: 4,
  };

  it.each<[string, Partial<Parameters<typeof loginComplaints>[0]>, readonly unknown[]]>([
    ['nothing', {}, []],
    [
      'nothing where a right login that was begun had a waiting one give way',
      { wrong: { RATE_LIMITED: { count: 9, longestMs: 300, lateCount: 4 } } },
      [],
    ],
    [
      'a right login that waits',
      { right: { ConnectAck: { count: 1, longestMs: 2001, lateCount: 0 } } },
      [/right.*2001/],
    ],
    [
      'a right login that is refused',
      { right: { ...good.right, RATE_LIMITED: { count: 1, longestMs: 1, lateCount: 0 } } },
      [/RATE_LIMITED/],
    ],
    ['no right login', { right: {} }, [/for ever/]],
    [
      'a refusal that waits',
      { wrong: { RATE_LIMITED: { count: 9, longestMs: 101, lateCount: 5 } } },
      [/5 refusals.*100/],
    ],
    ['no refusal', { wrong: {} }, [/all refusals/]],
    [
      'a wrong login that is accepted',
      { wrong: { ...good.wrong, ConnectAck: { count: 1, longestMs: 1, lateCount: 0 } } },
      [/wrong login/],
    ],
  ])('complains about %s', (_, change, complaints) => {
    expect(loginComplaints({ ...good, ...change })).toEqual(
      complaints.map((text) => expect.stringMatching(text as RegExp)),
    );
  });
});

describe('the judge of an attack', () => {
  const round = { confirmedCount: 5, receivedCount: 5, p50Ms: 1, p99Ms: 900 };
  const good: AttackResult = {
    attack: 'slow-loris',
    limitsRates: true,
    wentFirst: false,
    alone: round,
    beside: round,
    aloneResidentBytes: 1,
    residentBytes: BOUND_BYTES,
    deeds: { connections: 1, ended: 0, bytes: 1 },
    exitCode: 0,
  };

  it.each<[string, Partial<AttackResult>, readonly unknown[]]>([
    ['nothing', {}, []],
    ['a crash', { exitCode: null }, ['the broker ended with null']],
    ['lost messages', { beside: { ...round, receivedCount: 4 } }, [expect.stringContaining('5, 5, 5, 4')]],
    ['memory over the bound', { residentBytes: BOUND_BYTES + 1 }, [expect.stringContaining('over')]],
    [
      'an attack that was none',
      { deeds: { connections: 0, ended: 0, bytes: 0 } },
      ['the attack did nothing'],
    ],
  ])('complains about %s', (_, change, complaints) => {
    expect(attackComplaints({ ...good, ...change }, 5)).toEqual(complaints);
  });
});
