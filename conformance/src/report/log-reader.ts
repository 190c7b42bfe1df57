// Reads an event log and checks it: invalid JSON, an event that does not match the schema, a newer version or a wrong digest is refused
// with file and line. Only the end may be missing, as after an interrupt; then an incomplete last line is ignored.
import { readFileSync } from 'node:fs';
import schema from '../../schemas/event-log.schema.json' with { type: 'json' };
import type { Schema } from '../target/schema-check.ts';
import { schemaFaults } from '../target/schema-check.ts';
import { UsageError } from '../usage-error.ts';
import type { LogEvent, LogFinish, LoggedResult, RunLog } from './event-log.ts';
import { byRepetitionAndId, logSchemaVersion } from './event-log.ts';
import { LogWriter } from './log-writer.ts';

/** Reads the file; throws a UsageError that names file and line. */
export function readLog(path: string): RunLog {
  return parseLog(readText(path), path);
}

export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${(error as Error).message}`);
  }
}

/** `path` is only for messages. */
export function parseLog(text: string, path: string): RunLog {
  const lines = text.split('\n');
  const unended = lines.pop() ?? '';
  const events = lines.map((line, index) => eventOf(line, { path, lineNumber: index + 1 }));
  const [header, ...rest] = events;
  if (header?.type !== 'run started') {
    throw new UsageError(`${path} line 1: not an event log: it must begin with the line "run started"`);
  }
  const last = rest.at(-1);
  const finish = last?.type === 'run finished' ? last : undefined;
  const checks = finish === undefined ? rest : rest.slice(0, -1);
  if (finish !== undefined && unended !== '') {
    throw new UsageError(`${path} line ${lines.length + 1}: the log continues after its last event`);
  }
  const results = checks.map((event, index) => resultOf(event, path, index + 2));
  refuseTwice(results, path);
  const log = { header, results: results.sort(byRepetitionAndId) };
  if (finish === undefined) return log;
  refuseEdited(lines, events, path);
  return { ...log, finish: withoutDigest(finish) };
}

type Place = { readonly path: string; readonly lineNumber: number };

function eventOf(line: string, place: Place): LogEvent {
  const at = `${place.path} line ${place.lineNumber}`;
  const value = jsonOf(line, at);
  refuseNewer(value, at);
  const form = formOf(value);
  if (form === undefined) throw new UsageError(`${at}: not an event of an event log`);
  const faults = schemaFaults(form, value, '', schema as Schema);
  if (faults.length > 0) throw new UsageError(`${at}: ${faults.slice(0, 3).join('; ')}`);
  return value as LogEvent;
}

function jsonOf(line: string, at: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    throw new UsageError(`${at}: damaged: ${(error as Error).message}`);
  }
}

/** Throws if the document has a newer version than this runner knows. */
export function refuseNewer(value: unknown, at: string): void {
  const version = (value as { schema?: unknown } | null)?.schema;
  if (typeof version !== 'number' || version <= logSchemaVersion) return;
  const known = `this runner reads up to ${logSchemaVersion}`;
  throw new UsageError(`${at}: version ${version} of the format came, ${known}: use a newer runner`);
}

const forms: Readonly<Record<LogEvent['type'], string>> = {
  'run started': 'runStarted',
  'check finished': 'checkFinished',
  'run finished': 'runFinished',
};

function formOf(value: unknown): Schema | undefined {
  const type = (value as { type?: unknown } | null)?.type;
  const name = Object.entries(forms).find(([known]) => known === type)?.[1];
  return name === undefined ? undefined : (schema as Schema).$defs?.[name];
}

function resultOf(event: LogEvent, path: string, lineNumber: number): LoggedResult {
  if (event.type === 'check finished') return event.result;
  throw new UsageError(`${path} line ${lineNumber}: "${event.type}" came in the middle of the log`);
}

function refuseTwice(results: readonly LoggedResult[], path: string): void {
  const seen = new Set<string>();
  for (const { id, repetition } of results) {
    const key = `${id} (repetition ${repetition})`;
    if (seen.has(key)) throw new UsageError(`${path}: ${key} is there twice`);
    seen.add(key);
  }
}

/** Checks the digest in the last line: the log, written again from the parsed events, must be the same bytes. */
function refuseEdited(lines: readonly string[], events: readonly LogEvent[], path: string): void {
  const writer = new LogWriter();
  const faulty = events.findIndex((event, index) => {
    const plain = event.type === 'run finished' ? withoutDigest(event) : event;
    return writer.line(plain) !== `${lines[index]}\n`;
  });
  if (faulty < 0) return;
  const where = faulty === events.length - 1 ? '' : ` line ${faulty + 1}`;
  throw new UsageError(`${path}${where}: the log was changed after it was written: its digest is wrong`);
}

function withoutDigest(finish: LogFinish): LogFinish {
  const { digest: _digest, ...rest } = finish as LogFinish & { readonly digest?: string };
  return rest;
}
