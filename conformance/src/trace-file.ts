// The form in which a trace is kept and given away: one JSON document for each run of a check, by the published schema
// (schemas/trace.schema.json). It holds the bytes, on which connection and in which order they went, and the beginning of all names
// that the check used. Pure.
import type { TraceEvent } from './trace.ts';

export type TraceFile = {
  readonly schema: 1;
  readonly check: string;
  readonly title: string;
  readonly outcome: string;
  /** What was wrong, where something was. */
  readonly reason?: string;
  readonly target: { readonly name: string; readonly version?: string };
  /** The seed of this repetition. */
  readonly seed: number;
  readonly repetition: number;
  /** The beginning of every queue name and id that the check used; absent in traces of logs that do not tell it. */
  readonly names?: string;
  /** False: bytes or events are missing. */
  readonly complete: boolean;
  readonly events: readonly TraceEvent[];
};

type Traced = {
  readonly id: string;
  readonly title: string;
  readonly outcome: string;
  readonly reason?: string;
  readonly names?: string;
  readonly repetition: number;
  readonly trace: readonly TraceEvent[];
};

/** The document of one result. `run.seed` is that of the run, the first repetition's. */
export function traceFile(
  result: Traced,
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
