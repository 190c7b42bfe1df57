// The form in which a trace is kept and given away: one JSON document for each run of a check, by the published schema
// (schemas/trace.schema.json). It holds what is needed to send the same again, to any broker: the bytes, on which connection,
// in which order, and the beginning of all names that were used, so that another run can use others. Pure.
import traceSchema from '../schemas/trace.schema.json' with { type: 'json' };
import type { Schema } from './target/schema-check.ts';
import { schemaFaults } from './target/schema-check.ts';
import type { TraceEvent } from './trace.ts';
import { UsageError } from './usage-error.ts';

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
  /** What every queue name and id of the run begins with. */
  readonly names: string;
  /** Nothing is missing: it can be replayed. */
  readonly complete: boolean;
  readonly events: readonly TraceEvent[];
};

/** What the names of a check begin with; `seed` is that of the repetition. */
export function namesOf(checkId: string, seed: number): string {
  return `${seed.toString(36)}.${checkId.toLowerCase()}`;
}

type Traced = {
  readonly id: string;
  readonly title: string;
  readonly outcome: string;
  readonly reason?: string;
  readonly repetition: number;
  readonly trace: readonly TraceEvent[];
};

/** The document of one result. `run.seed` is that of the run, the first repetition's. */
export function traceFile(
  result: Traced,
  run: { readonly target: TraceFile['target']; readonly seed: number },
): TraceFile {
  const { id, title, outcome, reason, repetition, trace } = result;
  const seed = run.seed + repetition - 1;
  return {
    schema: 1,
    check: id,
    title,
    outcome,
    ...(reason === undefined ? {} : { reason }),
    target: run.target,
    seed,
    repetition,
    names: namesOf(id, seed),
    complete: trace.every(({ cut }) => cut !== true),
    events: trace,
  };
}

/** Reads a document; `path` is for messages. Throws a UsageError that lists what is wrong. */
export function parseTraceFile(text: string, path: string): TraceFile {
  const value = parsed(text, path);
  const faults = schemaFaults(traceSchema as Schema, value, '', traceSchema as Schema);
  if (faults.length > 0)
    throw new UsageError([`trace ${path} is not valid:`, ...faults.map((fault) => `  ${fault}`)].join('\n'));
  const file = value as TraceFile;
  const cutAt = file.events.findIndex(({ cut }) => cut === true);
  if (!file.complete || cutAt >= 0)
    throw new UsageError(
      `trace ${path} is not complete (it was too long to be kept whole) and cannot be replayed`,
    );
  return file;
}

function parsed(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`trace ${path} is no JSON: ${(error as Error).message}`);
  }
}
