// The facts of this machine on which defaults and warnings of the configuration depend. Reads no files of the broker.

import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import type { Machine } from '../config/configuration.ts';
import { heapLimitBytes } from '../gateway/heap-limit.ts';

/** `isTerminal`: whether stderr is a terminal. */
export function thisMachine(isTerminal: boolean): Machine {
  const memoryBytes = smallerLimit(process.constrainedMemory(), totalmem());
  const openFileLimit = openFileLimitOf(process.platform === 'linux' ? readLimits() : '');
  return {
    memoryBytes,
    heapLimitBytes,
    ...(openFileLimit === undefined ? {} : { openFileLimit }),
    isTerminal,
    coreCount: availableParallelism(),
  };
}

/** Of the process, as Linux writes them; empty where /proc cannot be read. */
function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'latin1');
  } catch {
    return '';
  }
}

/** How many files the process may have open, which Node.js has raised to the hard limit; undefined if there is no limit or it is not in the text. */
export function openFileLimitOf(limits: string): number | undefined {
  const [, soft] = /^Max open files +([0-9]+) /m.exec(limits) ?? [];
  return soft === undefined ? undefined : Number(soft);
}

/** The container's memory limit; undefined if there is none: the runtime then reports nothing, 0, or more than the machine has. */
export function smallerLimit(containerBytes: number | undefined, machineBytes: number): number {
  const isLimited = containerBytes !== undefined && containerBytes > 0 && containerBytes < machineBytes;
  return isLimited ? containerBytes : machineBytes;
}
