// Reads a baseline (YAML or JSON): the known failures of a broker. Strict: a wrong entry is a usage error with its line, because a
// misunderstood entry would hide another failure or none. It judges no results.
import { readFileSync } from 'node:fs';
import type { Document } from 'yaml';
import { isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import schema from '../../schemas/baseline.schema.json' with { type: 'json' };
import type { BaselineMark } from '../result.ts';
import type { Schema } from '../target/schema-check.ts';
import { schemaFaults } from '../target/schema-check.ts';
import { UsageError } from '../usage-error.ts';

export type BaselineEntry = BaselineMark & {
  readonly id: string;
  /** From 1. */
  readonly line: number;
  /** The day in `until` is over: the entry has no effect. */
  readonly expired: boolean;
};

export type Baseline = {
  /** Only for messages. */
  readonly path: string;
  readonly entries: readonly BaselineEntry[];
};

const dayMs = 86_400_000;
/** A check that fails for longer than a quarter of a year is broken, not flaky. */
const maxFlakyDays = 90;

/** Reads the file as of `now`; throws a UsageError that lists every fault with its line. */
export function readBaseline(path: string, now: Date): Baseline {
  return parseBaseline(textOf(path), path, now);
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`baseline ${path} cannot be read: ${(error as Error).message}`);
  }
}

/** A file without entries is a baseline that expects no failures. */
export function parseBaseline(text: string, path: string, now: Date): Baseline {
  const lines = new LineCounter();
  // An editor may have written a byte order mark.
  const document = parseDocument(text.replace(/^\ufeff/, ''), { lineCounter: lines });
  const syntax = document.errors.map(({ linePos, message }) => fault(linePos?.[0].line ?? 1, message));
  refuse(path, syntax);
  if (!isSeq(document.contents) && !isEmpty(document))
    refuse(path, [fault(1, 'a baseline is a list of entries: "- id: ..", one below the other')]);
  const located = locatedEntries(document, lines, path);
  refuse(
    path,
    located.flatMap((entry) => entryFaults(entry, now)),
  );
  const entries = located.map(({ value, line }) =>
    entryOf(value as BaselineMark & { id: string }, line, now),
  );
  refuse(path, repeatedFaults(entries));
  return { path, entries };
}

type Located = {
  readonly value: unknown;
  readonly line: number;
  /** The line of a key of the entry; the line of the entry if it has no such key. */
  readonly lineOf: (key: string) => number;
};

type Fault = { readonly line: number; readonly text: string };

function fault(line: number, message: string): Fault {
  return { line, text: message.split('\n')[0] ?? message };
}

function refuse(path: string, faults: readonly Fault[]): void {
  if (faults.length === 0) return;
  const lines = faults.map(({ line, text }) => `  line ${line}: ${text}`);
  throw new UsageError([`baseline ${path} is not valid:`, ...lines].join('\n'));
}

function isEmpty({ contents }: Document.Parsed): boolean {
  return contents === null || (isScalar(contents) && contents.value === null);
}

function locatedEntries(document: Document.Parsed, lines: LineCounter, path: string): readonly Located[] {
  const { contents } = document;
  if (!isSeq(contents)) return [];
  return contents.items.map((item) => {
    const lineAt = (node: unknown): number | undefined => {
      const range = (node as { range?: readonly number[] | null } | null)?.range;
      return range?.[0] === undefined ? undefined : lines.linePos(range[0]).line;
    };
    const line = lineAt(item) ?? 1;
    const keyOf = (key: string): unknown =>
      isMap(item) ? item.items.find((pair) => isScalar(pair.key) && pair.key.value === key)?.key : undefined;
    const value = entryValue(item, document, path, line);
    return { value, line, lineOf: (key) => lineAt(keyOf(key)) ?? line };
  });
}

/** An alias can name an anchor that is not there. */
function entryValue(item: unknown, document: Document, path: string, line: number): unknown {
  try {
    return (item as { toJS(document: Document): unknown }).toJS(document);
  } catch (error) {
    return refuse(path, [fault(line, (error as Error).message)]);
  }
}

function entryFaults(entry: Located, now: Date): readonly Fault[] {
  const form = schemaFaults(schema.$defs.entry as Schema, entry.value).map((text) =>
    fault(entry.lineOf(text.split(' ')[0]?.replace(':', '') ?? ''), text),
  );
  return form.length > 0 ? form : dayFaults(entry, now);
}

function dayFaults({ value, line, lineOf }: Located, now: Date): readonly Fault[] {
  const { expect, until } = value as BaselineMark;
  if (until === undefined) {
    const text = `expect "flaky" needs until, at most ${maxFlakyDays} days ahead: ${dayAfter(now, maxFlakyDays)}`;
    return expect === 'flaky' ? [fault(line, text)] : [];
  }
  if (!isDay(until)) return [fault(lineOf('until'), `until: ${until} is not a valid date`)];
  const latest = dayAfter(now, maxFlakyDays);
  if (expect !== 'flaky' || until <= latest) return [];
  const text = `until: "flaky" holds for ${maxFlakyDays} days at most, ${until} came, allowed: up to ${latest}`;
  return [fault(lineOf('until'), text)];
}

/** Days are compared as text: year, month, day. */
function dayAfter(now: Date, dayCount: number): string {
  return new Date(now.getTime() + dayCount * dayMs).toISOString().slice(0, 10);
}

function isDay(text: string): boolean {
  const at = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}

function entryOf(value: BaselineMark & { readonly id: string }, line: number, now: Date): BaselineEntry {
  const { id, expect, reason, issue, until } = value;
  return {
    id,
    expect,
    reason,
    ...(issue === undefined ? {} : { issue }),
    ...(until === undefined ? {} : { until }),
    line,
    expired: until !== undefined && until < dayAfter(now, 0),
  };
}

function repeatedFaults(entries: readonly BaselineEntry[]): readonly Fault[] {
  return entries.flatMap((entry, index) => {
    const first = entries.findIndex(({ id }) => id === entry.id);
    if (first === index) return [];
    return [fault(entry.line, `${entry.id} is there twice, first on line ${entries[first]?.line}`)];
  });
}
