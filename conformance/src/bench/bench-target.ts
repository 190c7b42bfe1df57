// The brokers that are measured: read from target files, or the word `skeleton` for the ceiling that comes with the runner. A started
// broker says what its processes use; an attached one cannot, and its tables say so by leaving it out.
import type { ConfigurationRequest } from '../configuration.ts';
import { joinedRequest } from '../configuration.ts';
import { exitText } from '../engine/broker-death.ts';
import { redactor } from '../report/redaction.ts';
import type { Broker } from '../target/broker.ts';
import { attachedBroker, spawnBroker } from '../target/broker.ts';
import type { BrokerExit } from '../target/broker-process.ts';
import { hookedBroker } from '../target/hooked-broker.ts';
import { TargetFault } from '../target/target-fault.ts';
import type { Target } from '../target/target-file.ts';
import { readTarget } from '../target/target-file.ts';
import { testTrust, withCertificatePaths } from '../target/test-certificates.ts';
import { timingFor } from '../timing.ts';
import { UsageError } from '../usage-error.ts';
import type { Access } from './access.ts';
import {
  accessRequest,
  isConfigured,
  loadSuperuser,
  loadToken,
  openAccess,
  refuseAccess,
  refuseUnsupported,
} from './access.ts';
import { LoadFault } from './load/load-fault.ts';
import type { Address } from './load/load-link.ts';
import { makeLoadUser } from './load/load-user.ts';
import { ownProgram } from './own-program.ts';
import type { Usage } from './process-usage.ts';
import { usageOf } from './process-usage.ts';

export const skeletonName = 'skeleton';

export type BenchTarget = {
  readonly name: string;
  /** An attached broker: jobs that fill a broker must not use it. */
  readonly isAttached: boolean;
  readonly start: (request?: ConfigurationRequest) => Promise<BenchBroker>;
};

export type BenchBroker = {
  readonly address: Address;
  readonly version: string | undefined;
  readonly processId: number | undefined;
  /** Undefined where the processes are not known. */
  readonly usage: () => Usage | undefined;
  /** How the broker ended by itself, in words; undefined if it runs, or if the runner cannot know. */
  readonly findEnd: () => Promise<string | undefined>;
  readonly stop: () => Promise<void>;
};

/** Throws a UsageError for an invalid file. */
export function benchTarget(pathOrName: string): BenchTarget {
  return measuredTarget(targetNamed(pathOrName));
}

/** The same for several, which all are reached in the same way. Throws a UsageError if one of them cannot. */
export function benchTargets(
  pathsOrNames: readonly string[],
  access: Access = openAccess,
): readonly BenchTarget[] {
  const targets = pathsOrNames.map(targetNamed);
  refuseAccess(access, targets);
  return targets.map((target) => measuredTarget(target, access));
}

export function measuredTarget(target: Target, access: Access = openAccess): BenchTarget {
  return {
    name: target.name,
    isAttached: target.lifecycle.kind === 'attach',
    start: async (request = {}) => {
      const wanted = joinedRequest(request, isConfigured(target) ? accessRequest(access) : {});
      const broker = await startedBroker(target, withCertificatePaths(wanted)).catch((error: unknown) => {
        throw redactedFault(target, error);
      });
      try {
        refuseStorage(target, request, broker);
        refuseUnsupported(target.name, access, broker.unsupported);
        return running(target, broker, await addressOf(target, access, broker));
      } catch (error) {
        await broker.dispose();
        throw error;
      }
    },
  };
}

function refuseStorage({ name }: Target, { storage }: ConfigurationRequest, { unsupported }: Broker): void {
  if (storage === undefined || !unsupported.includes('storage')) return;
  throw new UsageError(`${name}: its adapter says that it has no storage "${storage}"`);
}

/** Throws a UsageError if the broker does not let the load in. */
async function addressOf(target: Target, access: Access, broker: Broker): Promise<Address> {
  const { tcp } = broker.endpoints;
  if (!isConfigured(target)) return { ...tcp, credentials: access.credentials };
  const address = access.tls ? { ...tcp, tls: testTrust() } : tcp;
  if (access.authentication === undefined) return address;
  if (access.authentication === 'token') return { ...address, credentials: { authToken: loadToken } };
  try {
    return { ...address, credentials: await makeLoadUser(address, loadSuperuser) };
  } catch (error) {
    if (!(error instanceof LoadFault)) throw error;
    throw new UsageError(
      `--authentication users: ${target.name} makes no user for the load: ${error.message}`,
    );
  }
}

function targetNamed(pathOrName: string): Target {
  return pathOrName === skeletonName ? skeletonTarget() : readTarget(pathOrName);
}

/** Runs from this very program, wherever that is. */
function skeletonTarget(): Target {
  const { file, args, execArgv } = ownProgram('skeleton');
  const command = [process.execPath, ...execArgv, file, ...args];
  return { schema: 1, name: skeletonName, lifecycle: { kind: 'spawn', command } };
}

function startedBroker(target: Target, request: ConfigurationRequest): Promise<Broker> {
  const timing = timingFor(1);
  const { lifecycle, endpoints } = target;
  if (lifecycle.kind === 'spawn') return spawnBroker(lifecycle, request, timing);
  if (endpoints === undefined) throw new UsageError(`${target.name}: endpoints is missing`);
  if (lifecycle.kind === 'attach') return attachedBroker(endpoints, timing);
  return hookedBroker(lifecycle, endpoints, { request, timing });
}

function running({ redactions = [] }: Target, broker: Broker, address: Address): BenchBroker {
  const { processId } = broker;
  return {
    address,
    version: broker.identity?.version,
    processId,
    usage: () => (processId === undefined ? undefined : usageOf(processId)),
    findEnd: async () => {
      const end = await broker.findUnwantedEnd();
      return end === undefined ? undefined : redactor(redactions)(endText(end, broker.log.lines));
    },
    stop: () => broker.dispose(),
  };
}

/** Its last line often tells why; the rest is in the broker's own log. */
function endText(end: BrokerExit, log: readonly string[]): string {
  const last = log.findLast((line) => line.trim() !== '');
  const words = last === undefined ? 'it wrote no log' : `its log ends with: ${last.trim()}`;
  return `the broker ended (${exitText(end)}), ${words}`;
}

/** Several targets may be measured, so it says which one. */
function redactedFault({ name, redactions = [] }: Target, error: unknown): unknown {
  return error instanceof TargetFault
    ? new TargetFault(error.kind, `${name}: ${redactor(redactions)(error.message)}`)
    : error;
}
