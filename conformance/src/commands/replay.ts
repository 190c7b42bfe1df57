// `truemq-conformance replay`: sends the bytes of a trace file to a broker again and shows where the broker does something else than in the
// trace. It gives no verdict. Exit codes: 0 everything came as in the trace, 1 something else came, 2 usage, 4 the target did not start or
// ended.
import type { Check } from '../check.ts';
import { credentialFlags, readCredentials, refuseUnusedCredentials } from '../cli/credential-flags.ts';
import type { Flag, ParsedFlags } from '../cli/flags.ts';
import { numberIn, parseFlags } from '../cli/flags.ts';
import type { Sources } from '../cli/sources.ts';
import type { Terminal } from '../cli/terminal.ts';
import { unsupportedSettings } from '../engine/applicability.ts';
import { exitText } from '../engine/broker-death.ts';
import { BrokerPool } from '../engine/broker-pool.ts';
import { addressOf } from '../engine/check-context.ts';
import { targetFacts } from '../engine/target-facts.ts';
import { untilInterrupted } from '../interruption.ts';
import { deleteQueues } from '../replay/queue-deletion.ts';
import type { Replay } from '../replay/replay.ts';
import { replay } from '../replay/replay.ts';
import { differenceCount, replayLines } from '../replay/replay-text.ts';
import { readTrace } from '../replay/trace-reader.ts';
import { redactor } from '../report/redaction.ts';
import type { Broker } from '../target/broker.ts';
import { TargetFault } from '../target/target-fault.ts';
import type { Target } from '../target/target-file.ts';
import { readTarget } from '../target/target-file.ts';
import type { Timing } from '../timing.ts';
import { timingFor } from '../timing.ts';
import type { TraceFile } from '../trace-file.ts';
import { UsageError } from '../usage-error.ts';
import type { ExitCode } from '../verdict.ts';
import { exitCodes } from '../verdict.ts';
import type { Credentials } from '../wire/credentials.ts';

export const replayFlags: readonly Flag[] = [
  { name: 'target', kind: 'text', value: 'FILE', help: 'the target file (required)' },
  { name: 'all', kind: 'boolean', help: 'prints every event, not only the differences and what came before' },
  ...credentialFlags,
  { name: 'timeout-scale', kind: 'text', value: 'X', help: 'multiplies every deadline, for slow targets' },
];

type ReplayRequest = {
  readonly trace: TraceFile;
  readonly check: Check;
  readonly target: Target;
  readonly timing: Timing;
  readonly credentials: Credentials;
};

/** Throws a UsageError before anything is started. */
export async function replayCommand(
  args: readonly string[],
  { catalogue }: Sources,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<ExitCode> {
  const flags = parseFlags(args, replayFlags);
  const request = readRequest(flags, (id) => catalogue.check(id));
  const redact = redactor(request.target.redactions ?? []);
  const pool = new BrokerPool(request.target, request.timing);
  try {
    const { broker } = await untilInterrupted(signal, () => pool.lease(request.check, { alone: true }));
    refuseUnsupported(request, broker);
    const replayed = redact(await played(request, broker, signal));
    for (const line of replayLines(request, replayed, { all: flags.boolean('all') })) terminal.out(line);
    const end = await broker.findUnwantedEnd();
    if (end !== undefined) throw new TargetFault('ended', `the broker ended: ${exitText(end)}`);
    return differenceCount(replayed) === 0 ? exitCodes.open : exitCodes.failed;
  } catch (error) {
    if (!(error instanceof TargetFault)) throw error;
    terminal.err(`truemq-conformance: ${redact(error.message)}`);
    return exitCodes.target;
  } finally {
    await pool.dispose();
  }
}

function readRequest(flags: ParsedFlags, checkOf: (id: string) => Check | undefined): ReplayRequest {
  const [tracePath] = flags.positionals;
  if (tracePath === undefined || flags.positionals.length > 1)
    throw new UsageError('replay needs one trace: replay results/traces/FRAME-004a.json --target FILE');
  const targetPath = flags.text('target');
  if (targetPath === undefined) throw new UsageError('--target FILE is missing');
  const trace = readTrace(tracePath);
  const range = { low: 0.05, high: 100, whole: false };
  const scale = numberIn('timeout-scale', flags.text('timeout-scale'), range, 1);
  const target = readTarget(targetPath);
  const credentials = readCredentials(flags);
  refuseUnusedCredentials(target, credentials);
  return {
    trace,
    check: replayable(trace, checkOf(trace.check)),
    target,
    timing: timingFor(scale),
    credentials,
  };
}

/** The check, whose settings the broker gets. Throws a UsageError. */
function replayable({ check: id, seed }: TraceFile, check: Check | undefined): Check {
  if (check === undefined)
    throw new UsageError(`this runner has no check ${id}: use the version of the trace`);
  if (check.isolation !== 'restart') return check;
  throw new UsageError(
    `${id} stops its broker, which a trace does not contain; repeat the check instead: run --target FILE --only ${id} --seed ${seed}`,
  );
}

function refuseUnsupported({ check }: ReplayRequest, { unsupported }: Broker): void {
  const missing = unsupportedSettings(check.requires?.configuration ?? {}, unsupported);
  if (missing.length > 0)
    throw new UsageError(`${check.id}: the adapter does not support ${missing.join(', ')}`);
}

async function played(request: ReplayRequest, broker: Broker, signal: AbortSignal): Promise<Replay> {
  const { trace, check, target, timing, credentials } = request;
  const facts = targetFacts(target, check, broker.unsupported);
  const access = { tcp: addressOf({ broker, facts }, false), timing, credentials };
  const isOurs = target.lifecycle.kind !== 'attach';
  if (!isOurs) await deleteQueues(trace, access);
  try {
    return await replay(
      {
        trace,
        // Without `with` and a version of TLS after it, the check connected without TLS.
        addressFor: ({ text }) =>
          addressOf({ broker, facts }, facts.configuration.tls !== undefined && text === 'connected'),
        timing,
        credentials,
        maxMessageSizeBytes: facts.maxMessageSizeBytes,
      },
      signal,
    );
  } finally {
    if (!isOurs) await deleteQueues(trace, access);
  }
}
