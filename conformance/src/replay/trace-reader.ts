// Reads a trace file and checks it against the published schema. A trace that cannot be replayed is a usage error that says why.
import { readFileSync } from 'node:fs';
import schema from '../../schemas/trace.schema.json' with { type: 'json' };
import type { Schema } from '../target/schema-check.ts';
import { schemaFaults } from '../target/schema-check.ts';
import type { TraceEvent } from '../trace.ts';
import type { TraceFile } from '../trace-file.ts';
import { UsageError } from '../usage-error.ts';

const shownFaultCount = 5;

/** Throws a UsageError. */
export function readTrace(path: string): TraceFile {
  const value = parsed(textOf(path), path);
  const faults = schemaFaults(schema as Schema, value);
  if (faults.length > 0) {
    const shown = faults.slice(0, shownFaultCount);
    if (faults.length > shown.length) shown.push(`and ${faults.length - shown.length} more`);
    throw new UsageError(`${path} is not a trace:\n  ${shown.join('\n  ')}`);
  }
  const trace = value as TraceFile;
  if (!trace.complete)
    throw new UsageError(
      `${path}: bytes or events are missing (complete: false), so that it cannot be replayed; run ${trace.check} again`,
    );
  if (!trace.events.some(isFromBroker))
    throw new UsageError(
      `${path}: nothing came over TCP in it, so that a replay has nothing to compare; run ${trace.check} again`,
    );
  return trace;
}

/** What a replay compares: HTTP requests are not repeated. */
function isFromBroker({ kind, byRunner }: TraceEvent): boolean {
  return kind === 'received' || kind === 'undecodable' || (kind === 'closed' && byRunner === undefined);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`trace ${path} cannot be read: ${(error as Error).message}`);
  }
}

function parsed(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(
      `${path} is not JSON: ${(error as Error).message}; a trace is a file of the folder traces/ of run --out DIR`,
    );
  }
}
