// Measures whether the cost of a message grows with what the broker holds: 10, 10,000 and 1,000,000 messages waiting; 1 and 10,000
// queues; no and 1,000 idle connections. Server processor time per message and rate, in turn; the goal is within a fifth.
//
//   node --import tsx conformance/bench/depth.ts [TARGET] [--json PATH] [--reps N]
import { depthJob } from '../src/bench/jobs/depth.ts';
import { figure } from './figure.ts';

await figure({ roundCount: 9, measure: depthJob });
