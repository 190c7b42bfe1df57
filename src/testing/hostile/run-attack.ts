// One round of one attack: a broker as a process of its own, a normal workload from another process, first alone, then beside the attack on
// somebody else, and then beside the attack on the broker; and what the broker took of memory, read from outside. Needs Linux.

import { readFileSync } from 'node:fs';
import { type BrokerProcess, startProcess } from '../crash/broker-process.ts';
import { truemqProgram } from '../truemq-program.ts';
import { type AttackName, attackOf } from './attacks.ts';
import type { Deeds } from './hostile-socket.ts';
import type { Login } from './login-flood.ts';
import type { WorkloadResult } from './normal-workload.ts';
import { letGoFirst } from './priority.ts';
import type { Programs } from './programs.ts';
import { SpokenProcess } from './spoken-process.ts';

const MIB = 1024 * 1024;

/** The limits of the broker on messages, structures and buffers. */
const LIMITS_MIB = { 'max-queued-bytes': 64, 'max-structure-bytes': 256, 'max-buffered-bytes': 64 } as const;
/** What a broker takes without anything that a client makes it hold: Node.js, the code, and garbage that is not collected yet. */
export const BASE_BYTES = 192 * MIB;
/** What the broker may take: all limits at once, and the base. */
export const BOUND_BYTES =
  BASE_BYTES + Object.values(LIMITS_MIB).reduce((sum, mebibytes) => sum + mebibytes * MIB, 0);

export type AttackPlan = {
  readonly programs: Programs;
  readonly attack: AttackName;
  /** The part of the attack's full strength, 0 to 1. */
  readonly scale: number;
  /** Messages of the normal workload, alone and beside the attack. */
  readonly messageCount: number;
  readonly perSecond: number;
  /** Whether the broker limits rates as it does by default. */
  readonly limitsRates: boolean;
  /**
   * Whether the times count: broker and workload go before everything else on the machine, where the system allows it, and the workload also runs
   * beside the same attack on a process that discards what it gets.
   */
  readonly isMeasured: boolean;
};

export type AttackResult = {
  readonly attack: AttackName;
  readonly limitsRates: boolean;
  /** Whether broker and workload went before everything else on the machine. */
  readonly wentFirst: boolean;
  readonly alone: WorkloadResult;
  /** Beside the same attack on a process that discards what it gets. */
  readonly control?: WorkloadResult;
  readonly beside: WorkloadResult;
  /** The largest resident memory of the broker, before the attack and in all. */
  readonly aloneResidentBytes: number;
  readonly residentBytes: number;
  readonly deeds: Deeds;
  /** Of the broker, ended in good order after the attack. */
  readonly exitCode: number | null;
};

export async function runAttack(plan: AttackPlan): Promise<AttackResult> {
  const { attack, limitsRates, perSecond, messageCount, programs } = plan;
  const { user } = attackOf(attack);
  const login = user === undefined ? [] : [user.username, user.password];
  const broker = await startProcess([...truemqProgram, ...serveArguments(user, limitsRates)]);
  const workload = new SpokenProcess(programs['normal-workload'], [
    broker.port,
    perSecond,
    messageCount,
    ...login,
  ]);
  try {
    await workload.line();
    // Without limits of rates the broker may be busy all the time.
    const precedence = limitsRates ? 'realTime' : 'highest';
    const wentFirst = plan.isMeasured && letGoFirst([broker.pid, workload.pid], precedence);
    // The first round is of cold code.
    await roundOf(workload);
    const alone = await roundOf(workload);
    const control = plan.isMeasured ? { control: await besideControl(plan, workload) } : {};
    const aloneResidentBytes = peakResidentBytes(broker);
    const { result: beside, deeds } = await besideAttack(plan, broker.port, workload);
    const residentBytes = peakResidentBytes(broker);
    const exitCode = await broker.stop();
    return {
      attack,
      limitsRates,
      wentFirst,
      alone,
      ...control,
      beside,
      aloneResidentBytes,
      residentBytes,
      deeds,
      exitCode,
    };
  } finally {
    await Promise.all([workload.kill(), killIfAlive(broker)]);
  }
}

/** What the hostile client costs the machine, whatever the broker does. */
async function besideControl(plan: AttackPlan, workload: SpokenProcess): Promise<WorkloadResult> {
  const server = new SpokenProcess(plan.programs['discarding-server'], []);
  try {
    return (await besideAttack(plan, Number(await server.line()), workload)).result;
  } finally {
    await server.kill();
  }
}

async function besideAttack(
  { attack, scale, programs }: AttackPlan,
  port: number,
  workload: SpokenProcess,
): Promise<{ readonly result: WorkloadResult; readonly deeds: Deeds }> {
  const hostile = new SpokenProcess(programs['hostile-client'], [attack, port, scale]);
  try {
    await hostile.line();
    const result = await roundOf(workload);
    return { result, deeds: JSON.parse(await hostile.end()) as Deeds };
  } finally {
    await hostile.kill();
  }
}

function serveArguments(user: Login | undefined, limitsRates: boolean): readonly string[] {
  const limits = Object.entries(LIMITS_MIB).flatMap(([name, mebibytes]) => [`--${name}`, `${mebibytes}MiB`]);
  const free = [
    '--port',
    '0',
    '--health-port',
    '0',
    '--dashboard',
    'off',
    '--rate-limit',
    limitsRates ? 'on' : 'off',
    '--print-ready',
  ];
  const users =
    user === undefined
      ? []
      : [
          ...['--auth-database-path', ':memory:', '--superuser-username', user.username],
          ...['--superuser-password', user.password],
        ];
  // What the attack leaves in flight is not worth waiting for.
  return ['serve', ...limits, ...free, ...users, '--shutdown-timeout', '100ms', '--log-level', 'warn'];
}

async function roundOf(workload: SpokenProcess): Promise<WorkloadResult> {
  workload.say('go');
  return JSON.parse(await workload.line()) as WorkloadResult;
}

function peakResidentBytes({ pid }: BrokerProcess): number {
  const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
  if (kibibytes === undefined) throw new Error(`The memory of process ${pid} cannot be read: it has ended.`);
  return Number(kibibytes) * 1024;
}

async function killIfAlive(broker: BrokerProcess): Promise<void> {
  try {
    process.kill(broker.pid, 0);
  } catch {
    return;
  }
  await broker.kill();
}
