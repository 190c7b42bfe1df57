// Stops the broker, starts it again, checks that the stored message is still there, and ends its standard input. Areas: SHUTDOWN, DURABLE.
import { PrerequisiteMissing } from '../expectation.ts';
import { ProbeClient } from '../observation/probe-client.ts';
import type { Broker } from '../target/broker.ts';
import { waitForListener } from '../target/listening.ts';
import { TargetFault } from '../target/target-fault.ts';
import type { Timing } from '../timing.ts';
import type { Credentials } from '../wire/credentials.ts';
import { within } from '../within.ts';
import type { Examination } from './examination.ts';
import { tryHandshake } from './handshake.ts';
import { extendedTiming, seconds, slownessFinding } from './slow-answers.ts';

export type RestartSetting = {
  readonly broker: Broker;
  readonly examination: Examination;
  readonly timing: Timing;
  readonly timeoutScale: number;
  readonly credentials: Credentials;
  /** A queue with one message that must exist after the restart. */
  readonly storedIn?: string;
};

export async function tryRestart(setting: RestartSetting): Promise<void> {
  const { broker, examination } = setting;
  if (!(await stop(setting))) return;
  try {
    await broker.start();
  } catch (error) {
    if (!(error instanceof TargetFault)) throw error;
    const seen = `the second start, with the same data directory, failed: ${error.message}`;
    return examination.find('start again', { mistake: 'no-start', seen });
  }
  // An answer before the broker listens was found at the first start.
  await waitForListener('open', broker.endpoints.tcp, { withinMs: setting.timing.connectMs });
  const access = { tcp: broker.endpoints.tcp, credentials: setting.credentials };
  const greeting = await tryHandshake(access, setting.timing);
  if (greeting.kind === 'fault') return examination.find('start again', greeting.finding);
  examination.ok('start again', 'it started with the same data directory, and answers');
  await lookForMessage(setting);
  await endInput(setting);
}

/** On Windows, `stop` already works this way. */
async function endInput({ broker, examination, timing }: RestartSetting): Promise<void> {
  if (broker.closeInput === undefined) return;
  const name = 'end of input';
  broker.closeInput();
  const exit = await within(broker.exit, timing.stopMs * 2);
  if (exit !== undefined) return examination.ok(name, 'it ended with the standard input of its adapter');
  const seen = `${seconds(timing.stopMs * 2)} after the end of standard input the broker still ran`;
  examination.find(name, { mistake: 'outlives-input', seen });
}

/** False if the broker cannot be stopped, so that no second one can start. */
async function stop(setting: RestartSetting): Promise<boolean> {
  const { broker, examination, timing, timeoutScale } = setting;
  const toldAt = performance.now();
  broker.terminate();
  const exit = await within(broker.exit, timing.stopMs * 2);
  const elapsedMs = performance.now() - toldAt;
  if (exit === undefined) return kill(setting, elapsedMs);
  const took = { elapsedMs, deadlineMs: timing.stopMs, scale: timeoutScale };
  const how = exit.code === null ? '' : `, exit code ${exit.code}`;
  if (examination.note('stop', slownessFinding('the stop', took)))
    examination.ok('stop', `it ended after ${seconds(elapsedMs)}${how}`);
  return true;
}

async function kill({ broker, examination }: RestartSetting, elapsedMs: number): Promise<boolean> {
  const told = `${seconds(elapsedMs)} after the stop request the broker still ran`;
  try {
    await broker.crash();
    examination.find('stop', { mistake: 'ignores-stop', seen: `${told}, and was killed` });
    return true;
  } catch (error) {
    if (!(error instanceof TargetFault || error instanceof PrerequisiteMissing)) throw error;
    examination.find('stop', {
      mistake: 'ignores-stop',
      seen: `${told}, and cannot be killed: ${error.message}`,
    });
    return false;
  }
}

async function lookForMessage(setting: RestartSetting): Promise<void> {
  const { broker, examination, timing, storedIn, credentials } = setting;
  if (storedIn === undefined)
    return examination.skip('data', 'the target does not claim the profile durable');
  if (broker.unsupported.includes('storage'))
    return examination.skip('data', 'the adapter says that it does not support durable storage');
  const { tcp } = broker.endpoints;
  const client = new ProbeClient({
    tcp,
    timing: extendedTiming(timing),
    name: `${storedIn}.again`,
    credentials,
  });
  try {
    const connection = await client.connect();
    const info = await connection.queueInfo(storedIn);
    const count = info?.['messageCount'];
    if (count === 1) return examination.ok('data', 'the message that was published is there again');
    const found = info === undefined ? 'its queue is not there' : `its queue has ${String(count)} messages`;
    const seen = `a message was published and acknowledged before the stop; after the start ${found}`;
    examination.find('data', { mistake: 'data-lost', seen });
  } finally {
    await client.cleanUp();
  }
}
