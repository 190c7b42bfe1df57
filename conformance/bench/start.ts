// Measures what a broker costs while it does little: from start to handshake, memory when idle, for 100,000 queued messages of 1 KiB,
// for 1,000 idle connections; the skeleton beside it.
//
//   node --import tsx conformance/bench/start.ts [TARGET] [--json PATH] [--reps N]
import { fileURLToPath } from 'node:url';
import { footprintJob } from '../src/bench/jobs/footprint.ts';
import { figure } from './figure.ts';

// The built one: the time to translate its sources is nobody's figure.
const skeleton = fileURLToPath(new URL('skeleton/target.json', import.meta.url));

await figure({ roundCount: 5, beside: [skeleton], measure: footprintJob });
