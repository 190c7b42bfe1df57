// The brokers that are measured: read from target files, or the word `skeleton` for the ceiling that comes with the runner. A started
// broker says what its processes use; an attached one cannot, and its tables say so by leaving it out.
import type { ConfigurationRequest } from '../configuration.ts';
import type { Broker } from '../target/broker.ts';
import { attachedBroker, spawnBroker } from '../target/broker.ts';
import { hookedBroker } from '../target/hooked-broker.ts';
import type { Target } from '../target/target-file.ts';
import { readTarget } from '../target/target-file.ts';
import { timingFor } from '../timing.ts';
import { UsageError } from '../usage-error.ts';
import type { Address } from './load/load-link.ts';
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
  readonly stop: () => Promise<void>;
};

/** Throws a UsageError for an invalid file. */
export function benchTarget(pathOrName: string): BenchTarget {
  if (pathOrName === skeletonName) return skeletonTarget();
  return measuredTarget(readTarget(pathOrName));
}

export function measuredTarget(target: Target): BenchTarget {
  return {
    name: target.name,
    isAttached: target.lifecycle.kind === 'attach',
    start: async (request = {}) => {
      const broker = await startedBroker(target, request);
      if (request.storage === undefined || !broker.unsupported.includes('storage')) return running(broker);
      await broker.dispose();
      throw new UsageError(`${target.name}: its adapter says that it has no storage "${request.storage}"`);
    },
  };
}

/** Runs from this very program, wherever that is. */
function skeletonTarget(): BenchTarget {
  const { file, args, execArgv } = ownProgram('skeleton');
  const command = [process.execPath, ...execArgv, file, ...args];
  return measuredTarget({ schema: 1, name: skeletonName, lifecycle: { kind: 'spawn', command } });
}

function startedBroker(target: Target, request: ConfigurationRequest): Promise<Broker> {
  const timing = timingFor(1);
  const { lifecycle, endpoints } = target;
  if (lifecycle.kind === 'spawn') return spawnBroker(lifecycle, request, timing);
  if (endpoints === undefined) throw new UsageError(`${target.name}: endpoints is missing`);
  if (lifecycle.kind === 'attach') return attachedBroker(endpoints, timing);
  return hookedBroker(lifecycle, endpoints, { request, timing });
}

function running(broker: Broker): BenchBroker {
  const { processId } = broker;
  return {
    address: broker.endpoints.tcp,
    version: broker.identity?.version,
    processId,
    usage: () => (processId === undefined ? undefined : usageOf(processId)),
    stop: () => broker.dispose(),
  };
}
