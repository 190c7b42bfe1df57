// What this process retains: the heap and the memory outside of it that JavaScript objects own, after garbage collections.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Weak references and finalizers need turns of the event loop between collections. */
const COLLECTION_COUNT = 4;

export async function collectGarbage(): Promise<void> {
  for (let count = 0; count < COLLECTION_COUNT; count += 1) {
    await new Promise((resolve) => void setImmediate(resolve));
    collect();
  }
}

/** Bytes. `external` contains the array buffers. */
export async function retainedBytes(): Promise<number> {
  await collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
