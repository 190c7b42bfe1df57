// Measures whether the cost of a message grows with the amount of data in the broker: 10, 10,000 and 1,000,000 messages waiting; 1 and 10,000
// queues; 0 and 1,000 idle connections. Compares processor time per message and rate; the goal is a difference of at most 20 percent.
//
//   node --import tsx conformance/bench/depth.ts [TARGET] [--json PATH] [--reps N]
import { depthJob } from '../src/bench/jobs/depth.ts';
import { figure } from './figure.ts';

await figure({ roundCount: 9, measure: depthJob });
