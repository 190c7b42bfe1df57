// Measures a broker with almost no load: the time from start to handshake, and the memory without load, with 100,000 queued messages of
// 1 KiB, and with 1,000 idle connections. Measures the skeleton too, for comparison.
//
//   node --import tsx conformance/bench/start.ts [TARGET] [--json PATH] [--reps N]
import { fileURLToPath } from 'node:url';
import { footprintJob } from '../src/bench/jobs/footprint.ts';
import { figure } from './figure.ts';

// The built skeleton, so that the time to compile its sources does not count.
const skeleton = fileURLToPath(new URL('skeleton/target.json', import.meta.url));

await figure({ roundCount: 5, beside: [skeleton], measure: footprintJob });
