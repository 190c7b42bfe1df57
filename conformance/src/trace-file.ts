// The file format of a trace: one JSON document for each run of a check, with the published schema schemas/trace.schema.json. It contains
// the bytes of each connection in order, and the prefix of all names that the check used. Pure.
import type { TraceEvent } from './trace.ts';

export type TraceFile = {
  readonly schema: 1;
  readonly check: string;
  readonly title: string;
  readonly outcome: string;
  /** The reason of a failure. */
  readonly reason?: string;
  readonly target: { readonly name: string; readonly version?: string };
  /** The seed of this repetition. */
  readonly seed: number;
  readonly repetition: number;
  /** The prefix of all queue names and ids of the check; absent if the log does not contain it. */
  readonly names?: string;
  /** False if bytes or events are missing. */
  readonly complete: boolean;
  readonly events: readonly TraceEvent[];
};

type TracedResult = {
  readonly id: string;
  readonly title: string;
  readonly outcome: string;
  readonly reason?: string;
  readonly names?: string;
  readonly repetition: number;
  readonly trace: readonly TraceEvent[];
};

/** The document for one result. `run.seed` is the seed of the run, which is the seed of the first repetition. */
export function traceFile(
  result: TracedResult,
  run: { readonly target: TraceFile['target']; readonly seed: number },
): TraceFile {
  const { id, title, outcome, reason, names, repetition, trace } = result;
  return {
    schema: 1,
    check: id,
    title,
    outcome,
    ...(reason === undefined ? {} : { reason }),
    target: run.target,
    seed: run.seed + repetition - 1,
    repetition,
    ...(names === undefined ? {} : { names }),
    complete: trace.every(({ cut }) => cut !== true),
    events: trace,
  };
}
