// Whether the broker is well, and why not, in words with numbers. Pure. The rule is that of the health server: HEALTH-004, HEALTH-005 and HEALTH-011.

import type { Readiness } from '../../../gateway/gateway.ts';
import { isMemoryHealthy, type MemorySample, memoryShare } from '../../health/memory.ts';
import type { Health } from './live-events.ts';

const MIB = 1024 * 1024;

export function liveHealth(memory: MemorySample, readiness: Readiness): Health {
  const reasons = [
    ...(readiness.ready ? [] : [sentence(readiness.reason)]),
    ...(isMemoryHealthy(memory) ? [] : [fullMemory(memory)]),
  ];
  return { isHealthy: reasons.length === 0, reasons };
}

/** Names the one of the two limits that is nearer. */
function fullMemory(memory: MemorySample): string {
  const { residentBytes, residentLimitBytes, heapLimitBytes } = memory;
  const share = memoryShare(memory);
  const isResident = residentBytes / residentLimitBytes === share;
  const limitBytes = isResident ? residentLimitBytes : heapLimitBytes;
  const percent = Math.floor(share * 100);
  return `${isResident ? 'Memory' : 'The heap'} is at ${percent} percent of its limit of ${Math.round(limitBytes / MIB)} MiB.`;
}

/** Some reasons are parts of a sentence: "recovering from the store". */
function sentence(reason: string): string {
  return reason.endsWith('.') ? reason : `The broker does not serve: ${reason}.`;
}
