// Serves one part of a measurement in this process; see own-program.ts.
import { serveSkeleton } from '../../bench/skeleton/skeleton.ts';
import { serveLoadOrders } from './load/load-process.ts';
import type { PartName } from './own-program.ts';

/** Resolves when the part is at work; the process ends with whoever started it. */
export async function servePart(part: PartName): Promise<void> {
  switch (part) {
    case 'load':
      return serveLoadOrders();
    case 'skeleton':
      return serveSkeleton();
  }
}
