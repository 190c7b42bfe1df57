// The examination of a target: start, address, handshake, commands, one message delivered and acknowledged, health, stop, start again,
// end of input. It goes on for as long as what was found leaves something to look at, and always ends what it started.
import type { ConfigurationRequest } from '../configuration.ts';
import { ExpectationFailure } from '../expectation.ts';
import { untilInterrupted } from '../interruption.ts';
import { ProbeClient } from '../observation/probe-client.ts';
import type { Broker } from '../target/broker.ts';
import { attachedBroker, spawnBroker } from '../target/broker.ts';
import { hookedBroker } from '../target/hooked-broker.ts';
import { unreachableReason, waitForListener } from '../target/listening.ts';
import { TargetFault } from '../target/target-fault.ts';
import type { Target } from '../target/target-file.ts';
import type { Timing } from '../timing.ts';
import type { Credentials } from '../wire/credentials.ts';
import { tryCommands } from './commands.ts';
import { tryDelivery } from './delivery.ts';
import { Examination } from './examination.ts';
import type { Diagnosis, DoctorFinding, MistakeName } from './finding.ts';
import { tryHandshake } from './handshake.ts';
import { tryHealth } from './health.ts';
import { tryRestart } from './restart.ts';
import { extendedTiming, seconds, slownessFinding } from './slow-answers.ts';

export type DoctorSetting = {
  readonly target: Target;
  readonly timing: Timing;
  readonly timeoutScale: number;
  /** For a broker that is not configured by the runner. */
  readonly credentials?: Credentials;
  /** Ends the examination. */
  readonly signal: AbortSignal;
};

/** Throws Interrupted when the signal comes; the broker is stopped and the queues on it are deleted then too. */
export async function examine(setting: DoctorSetting): Promise<Diagnosis> {
  const examination = new Examination();
  let broker: Broker;
  try {
    broker = await untilInterrupted(setting.signal, () => start(setting, examination));
  } catch (error) {
    if (!(error instanceof TargetFault)) throw error;
    const finding = startFinding(error);
    examination.find('start', finding);
    return examination.diagnosis(!startFaults.includes(finding.mistake), []);
  }
  const client = clientAt(broker, setting);
  try {
    await untilInterrupted(setting.signal, () => tryBroker(setting, examination, { broker, client }));
  } catch (error) {
    if (!(error instanceof ExpectationFailure)) throw error;
    examination.find('commands', { mistake: 'no-answer', seen: `${error.message}: ${error.actual}` });
  } finally {
    if (setting.target.lifecycle.kind === 'attach') await client.cleanUp();
    else client.close();
    await end(broker, examination);
  }
  return examination.diagnosis(true, broker.log.lines);
}

async function end(broker: Broker, examination: Examination): Promise<void> {
  try {
    await broker.dispose();
  } catch (error) {
    if (!(error instanceof TargetFault)) throw error;
    examination.find('stop', { mistake: 'ignores-stop', seen: error.message });
  }
}

async function start(setting: DoctorSetting, examination: Examination): Promise<Broker> {
  const { timing, timeoutScale } = setting;
  const startedAt = performance.now();
  const broker = await startedBroker(setting);
  const took = { elapsedMs: performance.now() - startedAt, deadlineMs: timing.startMs, scale: timeoutScale };
  const { host, port } = broker.endpoints.tcp;
  const who =
    broker.identity === undefined ? '' : `: ${broker.identity.name} ${broker.identity.version ?? ''}`;
  if (examination.note('start', slownessFinding('the start', took)))
    examination.ok('start', `at ${host}:${port} after ${seconds(took.elapsedMs)}${who}`.trimEnd());
  return broker;
}

function startedBroker({ target, timing }: DoctorSetting): Promise<Broker> {
  const patient = extendedTiming(timing);
  const { lifecycle, endpoints } = target;
  if (lifecycle.kind === 'spawn') return spawnBroker(lifecycle, requestFor(target), patient);
  if (endpoints === undefined) throw new Error('a target that is not spawned has no endpoints');
  return lifecycle.kind === 'attach'
    ? attachedBroker(endpoints, timing)
    : hookedBroker(lifecycle, endpoints, { request: requestFor(target), timing: patient });
}

/** The configuration of a run: a target that claims the profile durable is started with durable storage. */
function requestFor({ profiles = [] }: Target): ConfigurationRequest {
  return profiles.includes('durable') || profiles.includes('full') ? { storage: 'durable' } : {};
}

function startFinding({ kind, message }: TargetFault): DoctorFinding {
  switch (kind) {
    case 'no JSON':
      return { mistake: 'stdout-text', seen: message };
    case 'unreachable':
      return { mistake: 'unreachable', seen: message };
    default:
      return { mistake: 'no-start', seen: message };
  }
}

/** After these there is no broker to examine. */
const startFaults: readonly MistakeName[] = ['no-start', 'unreachable'];

async function tryBroker(
  setting: DoctorSetting,
  examination: Examination,
  { broker, client }: { readonly broker: Broker; readonly client: ProbeClient },
): Promise<void> {
  const { timing, timeoutScale, target, credentials = {} } = setting;
  const { tcp, health } = broker.endpoints;
  if (!(await isOpen(setting, examination, broker))) return;
  const greeting = await tryHandshake({ tcp, credentials }, timing);
  if (greeting.kind === 'fault') return examination.find('handshake', greeting.finding);
  const took = { elapsedMs: greeting.elapsedMs, deadlineMs: timing.answerMs, scale: timeoutScale };
  if (examination.note('handshake', slownessFinding('the answer to Connect', took)))
    examination.ok('handshake', `ConnectAck after ${seconds(greeting.elapsedMs)}`);
  const queue = client.queue('doctor');
  const asking = { client, examination, timing, timeoutScale };
  const commandsWork = await tryCommands(asking, queue);
  if (commandsWork) await tryDelivery(asking, client.queue('delivery'));
  if (health === undefined) examination.skip('health', 'the target names no health server');
  else await tryHealth(health.url, timing, examination);
  if (target.lifecycle.kind === 'attach') return examination.skip('stop', 'an attached broker is left alone');
  const isDurable = commandsWork && requestFor(target).storage !== undefined;
  await tryRestart({
    broker,
    examination,
    timing,
    timeoutScale,
    credentials,
    ...(isDurable ? { storedIn: queue } : {}),
  });
}

function clientAt({ endpoints }: Broker, { timing, credentials = {} }: DoctorSetting): ProbeClient {
  const name = `doctor-${Date.now().toString(36)}`;
  return new ProbeClient({ tcp: endpoints.tcp, timing: extendedTiming(timing), name, credentials });
}

async function isOpen(
  { timing }: DoctorSetting,
  examination: Examination,
  { endpoints }: Broker,
): Promise<boolean> {
  const { host, port } = endpoints.tcp;
  if ((await unreachableReason(endpoints.tcp, timing.connectMs)) === undefined) return true;
  const lookedAt = performance.now();
  if (!(await waitForListener('open', endpoints.tcp, { withinMs: timing.connectMs }))) {
    examination.find('address', { mistake: 'port-closed', seen: `no process listens at ${host}:${port}` });
    return false;
  }
  const lateMs = performance.now() - lookedAt;
  const seen = `${host}:${port} could be reached only ${seconds(lateMs)} after the adapter had answered`;
  examination.find('address', { mistake: 'port-closed', seen });
  return true;
}
