// Reads the text form of a store line by line: each line becomes records, or the reason why it is not valid. Strict: an unknown key is an
// error, and a text without its last line is incomplete. Does not check the records against each other.

import type { DeadLetterFacts } from '../../broker/interface/message-content.ts';
import type { RecoveredRecord } from '../../broker/interface/store-record.ts';
import { deadLetterReasons } from '../../model/dead-letter-reason.ts';
import { Priority } from '../../model/priority.ts';
import { readQueueOptions } from '../../protocol/queue-options-json.ts';
import { jsonMembers } from '../json-members.ts';
import { bytesOfContent, isContentOf, type ReadableContent } from './readable-content.ts';
import { STORE_TEXT } from './store-text.ts';

export type StoreTextLine =
  | { readonly kind: 'record'; readonly record: RecoveredRecord }
  /** The first line, or the last. */
  | { readonly kind: 'frame' }
  | { readonly kind: 'problem'; readonly problem: string };

type Properties = Readonly<Record<string, unknown>>;

export class StoreTextReader {
  readonly #generations = new Map<string, number>();
  #lineNumber = 0;
  #messageCount = 0;
  #hasEnded = false;
  #hasProblem = false;

  /** To be called for every line, in order. The sequence of a message is its line number. */
  read(line: Buffer): StoreTextLine {
    this.#lineNumber += 1;
    try {
      return this.#read(parseLine(line), line);
    } catch (error) {
      if (!(error instanceof LineProblem)) throw error;
      this.#hasProblem = true;
      return { kind: 'problem', problem: error.message };
    }
  }

  /** What is missing after the last line; undefined if the text is complete. */
  problemAtEnd(): string | undefined {
    if (this.#hasEnded) return undefined;
    return this.#lineNumber === 0 ? 'there is no text' : 'the last line is missing: the text was cut off';
  }

  #read(line: Properties, written: Buffer): StoreTextLine {
    if (this.#lineNumber === 1) return readHeader(line);
    if (this.#hasEnded) throw new LineProblem('nothing may follow the line of kind end');
    switch (line['kind']) {
      case 'queue':
        return { kind: 'record', record: this.#readQueue(line) };
      case 'message':
        return { kind: 'record', record: this.#readMessage(line, written) };
      case 'end':
        return this.#readEnd(line);
      default:
        throw new LineProblem('kind must be queue, message or end');
    }
  }

  #readQueue(line: Properties): RecoveredRecord {
    if (this.#messageCount > 0) throw new LineProblem('queues come before messages');
    allowOnly(line, ['kind', 'name', 'createdAt', 'options']);
    const name = text(line, 'name');
    const createdWallAt = instant(line, 'createdAt');
    const options = object(line, 'options');
    allowOnly(options, OPTIONS);
    const read = readQueueOptions(Buffer.from(JSON.stringify(options)));
    if ('invalid' in read) throw new LineProblem(read.invalid);
    const generation = this.#lineNumber;
    this.#generations.set(name, generation);
    return { kind: 'queue', generation, name, options: read.options, createdWallAt };
  }

  #readMessage(line: Properties, written: Buffer): RecoveredRecord {
    this.#messageCount += 1;
    allowOnly(line, MESSAGE);
    const id = text(line, 'id');
    const queue = text(line, 'queue');
    const generation = this.#generations.get(queue);
    if (generation === undefined) throw new LineProblem(`there is no queue ${queue} in the lines before`);
    const deadLetter = line['deadLetter'] === undefined ? undefined : facts(object(line, 'deadLetter'));
    return {
      kind: 'message',
      generation,
      sequence: this.#lineNumber,
      id,
      priority: Priority[oneOf(line, 'priority', PRIORITIES)],
      acceptedWallAt: instant(line, 'acceptedAt'),
      failedAttempts: count(line, 'failedAttempts'),
      content: content(line, written, { id, queue: deadLetter?.source ?? queue }),
      ...(deadLetter === undefined ? {} : { deadLetter }),
    };
  }

  #readEnd(line: Properties): StoreTextLine {
    this.#hasEnded = true;
    allowOnly(line, ['kind', 'queues', 'messages']);
    const found = { queues: this.#generations.size, messages: this.#messageCount };
    for (const [what, foundCount] of Object.entries(found)) {
      const said = count(line, what);
      // A line that could not be read may be the one that is missing here; it was reported already.
      if (said !== foundCount && !this.#hasProblem)
        throw new LineProblem(`${said} ${what} should stand above, not ${foundCount}`);
    }
    return { kind: 'frame' };
  }
}

class LineProblem extends Error {}

const OPTIONS = [
  ...['mode', 'maxQueueSize', 'messageTtl', 'enableDeadLetterQueue', 'deadLetterQueueName'],
  ...['overflowStrategy', 'maxRetryAttempts'],
];
const CONTENTS = ['payload', 'payloadText', 'payloadBase64'] as const;
const MESSAGE = [
  ...['kind', 'queue', 'id', 'priority', 'acceptedAt', 'failedAttempts', 'deadLetter'],
  ...['headers', ...CONTENTS, 'contentBase64'],
];
const PRIORITIES = Object.keys(Priority) as (keyof typeof Priority)[];

function parseLine(line: Buffer): Properties {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(line));
  } catch (error) {
    throw new LineProblem(error instanceof SyntaxError ? `not JSON: ${error.message}` : 'not UTF-8');
  }
  return asObject(value, 'the line');
}

function readHeader(line: Properties): StoreTextLine {
  if (line['format'] !== STORE_TEXT.format)
    throw new LineProblem(
      `this is not the first line of an export: it must say ${JSON.stringify(STORE_TEXT)}`,
    );
  const version = line['version'];
  if (version !== STORE_TEXT.version)
    throw new LineProblem(
      `the text has version ${JSON.stringify(version)}; this program reads version ${STORE_TEXT.version}`,
    );
  return { kind: 'frame' };
}

function content(
  line: Properties,
  written: Buffer,
  owner: { readonly id: string; readonly queue: string },
): Buffer {
  const given = CONTENTS.filter((key) => Object.hasOwn(line, key));
  if (given.length > 1) throw new LineProblem(`only one of ${given.join(' and ')} can be there`);
  const readable: ReadableContent = {
    ...(line['headers'] === undefined ? {} : { headers: headers(object(line, 'headers')) }),
    ...(Object.hasOwn(line, 'payload') ? payloadAsWritten(line['payload'], written.toString()) : {}),
    ...(line['payloadText'] === undefined ? {} : { payloadText: text(line, 'payloadText') }),
    ...(line['payloadBase64'] === undefined ? {} : { payloadBase64: base64(line, 'payloadBase64') }),
    ...(line['contentBase64'] === undefined ? {} : { contentBase64: base64(line, 'contentBase64') }),
  };
  const bytes = encoded(readable, owner);
  if (isContentOf(bytes, owner.id)) return bytes;
  throw new LineProblem('the content is no message with this id');
}

/** A value would lose the spelling of its numbers; an export says as a value only what loses nothing. */
function payloadAsWritten(payload: unknown, line: string): ReadableContent {
  const asExported = `"payload":${JSON.stringify(payload)}`;
  const at = line.indexOf(asExported);
  if (at !== -1 && [',', '}'].includes(line.charAt(at + asExported.length))) return { payload };
  return { payloadText: jsonMembers(line)?.get('payload') ?? '' };
}

function encoded(readable: ReadableContent, owner: { readonly id: string; readonly queue: string }): Buffer {
  try {
    return bytesOfContent(readable, owner);
  } catch (error) {
    if (error instanceof RangeError) throw new LineProblem(error.message);
    throw error;
  }
}

function headers(given: Properties): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(given)) {
    if (name === '' || typeof value !== 'string' || value === '')
      throw new LineProblem('headers must be texts that are not empty');
  }
  return given as Readonly<Record<string, string>>;
}

function facts(given: Properties): DeadLetterFacts {
  allowOnly(given, ['reason', 'source', 'attempts', 'deadLetteredAt']);
  return {
    reason: oneOf(given, 'reason', deadLetterReasons),
    source: text(given, 'source'),
    attempts: count(given, 'attempts'),
    deadLetteredWallAt: instant(given, 'deadLetteredAt'),
  };
}

function allowOnly(given: Properties, keys: readonly string[]): void {
  const unknown = Object.keys(given).find((key) => !keys.includes(key));
  if (unknown !== undefined) throw new LineProblem(`there is no ${unknown}; allowed is ${keys.join(', ')}`);
}

function text(given: Properties, key: string): string {
  const value = given[key];
  if (typeof value === 'string' && value !== '') return value;
  throw new LineProblem(`${key} must be a text that is not empty`);
}

function count(given: Properties, key: string): number {
  const value = given[key];
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new LineProblem(`${key} must be a whole number from 0 on`);
}

const TIMESTAMP = /^(?:[+-]\d\d)?\d{4}(-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d{1,3})?Z$/;

function instant(given: Properties, key: string): number {
  const value = given[key];
  const [whole, withinYear] = (typeof value === 'string' && TIMESTAMP.exec(value)) || [];
  const wallAt = whole === undefined ? Number.NaN : Date.parse(whole);
  // The runtime reads February 30 as a day of March.
  if (!Number.isNaN(wallAt) && new Date(wallAt).toISOString().includes(withinYear ?? '')) return wallAt;
  throw new LineProblem(`${key} must be a time such as 2026-02-18T10:30:00Z`);
}

function base64(given: Properties, key: string): string {
  const value = given[key];
  if (typeof value === 'string' && Buffer.from(value, 'base64').toString('base64') === value) return value;
  throw new LineProblem(`${key} must be bytes in base64`);
}

function oneOf<Name extends string>(given: Properties, key: string, names: readonly Name[]): Name {
  const found = names.find((name) => name === given[key]);
  if (found !== undefined) return found;
  throw new LineProblem(`${key} must be ${names.join(', ')}`);
}

function object(given: Properties, key: string): Properties {
  return asObject(given[key], key);
}

function asObject(value: unknown, what: string): Properties {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Properties;
  throw new LineProblem(`${what} must be a JSON object`);
}
