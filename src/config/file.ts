// Reads the configuration file: a flat map of keys, in JSON (`.json`) or YAML (everything else). Knows no keys; the loader validates the
// values. Its messages contain nothing of the file, which may hold secrets. Implements AUTH-054 and CONFIG-006.

import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { type ErrorCode, parseDocument, YAMLParseError } from 'yaml';
import { ConfigurationError } from './configuration.ts';
import type { ConfigurationSources } from './load.ts';
import { utf8Text } from './utf8-text.ts';

/**
 * The entries of a configuration file.
 * @throws ConfigurationError when the file cannot be read, or is not a map in JSON or YAML
 */
export function readConfigurationFile(path: string): NonNullable<ConfigurationSources['file']> {
  return { path, entries: parseConfigurationFile(path, readText(path)) };
}

/** As {@link readConfigurationFile}, from text. An empty file has no entries. */
export function parseConfigurationFile(path: string, text: string): ReadonlyMap<string, unknown> {
  const content = parseContent(path, text);
  if (content === null || content === undefined) return new Map();
  if (typeof content !== 'object' || Array.isArray(content)) {
    throw new ConfigurationError([`file ${path}: holds no map of keys to values`]);
  }
  return new Map(Object.entries(content));
}

function readText(path: string): string {
  const text = utf8Text(readBytes(path));
  if (text === undefined) throw new ConfigurationError([`file ${path}: is not UTF-8; save it as UTF-8`]);
  return text;
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new ConfigurationError([`file ${path}: cannot be read: ${firstLine(error)}`]);
  }
}

function parseContent(path: string, text: string): unknown {
  const isJson = extname(path).toLowerCase() === '.json';
  try {
    return isJson ? parseJson(text) : parseYaml(text);
  } catch (error) {
    if (hasCode(error, 'MULTIPLE_DOCS')) {
      throw new ConfigurationError([
        `file ${path}: holds more than one YAML document; leave out the line --- between them`,
      ]);
    }
    throw new ConfigurationError([
      `file ${path}: is no ${isJson ? 'JSON' : 'YAML'}: ${withoutContent(error)}`,
    ]);
  }
}

/** Of two equal keys JSON takes the last one, without a word. What else the parser of YAML has against JSON does not matter. */
function parseJson(text: string): unknown {
  const content: unknown = JSON.parse(text);
  const repeated = parseDocument(text).errors.find((error) => hasCode(error, 'DUPLICATE_KEY'));
  if (repeated !== undefined) throw repeated;
  return content;
}

/** A tag that nobody knows is an error, not a warning: `authToken: !secret` would be the empty text, and so no token. */
function parseYaml(text: string): unknown {
  const document = parseDocument(text);
  const [fault] = [...document.errors, ...document.warnings];
  if (fault !== undefined) throw fault;
  const content: unknown = document.toJS();
  if (isCircular(content)) throw new Error('an alias contains itself');
  return content;
}

function isCircular(content: unknown): boolean {
  try {
    JSON.stringify(content);
    return false;
  } catch {
    return true;
  }
}

function hasCode(error: unknown, code: ErrorCode): boolean {
  return error instanceof YAMLParseError && error.code === code;
}

/** What is wrong, without the text around it: the parser of JSON quotes it, and that of YAML shows it behind a colon. */
function withoutContent(error: unknown): string {
  const sentence = firstLine(error);
  return sentence.replace(/, (\.\.\.)?".*$/, '').replace(/: .*?(?=( at line \d+, column \d+:)?$)/, '');
}

/** Only the first line of a YAML error: it has line and column; a drawing of the place follows. */
function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
}
