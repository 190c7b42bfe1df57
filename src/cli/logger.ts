// The log writer: one line per entry, as JSON for programs or pretty for people. Writes by the given function, drops
// nothing and buffers nothing itself. A value with a line break cannot forge a line, nor can one with a control character command the terminal
// that shows it: both forms escape them.

import type { LogFields, Logger } from '../model/logger.ts';

/** From the most important to the least. */
const LEVELS = ['error', 'warn', 'info', 'debug'] as const;

export type LogLevel = (typeof LEVELS)[number];

export type LoggerOptions = {
  /** The least important level that is written. */
  readonly level: LogLevel;
  readonly format: 'pretty' | 'json';
  readonly write: (line: string) => void;
  /** Milliseconds since 1970. */
  readonly wallNow: () => number;
};

export function createLogger(options: LoggerOptions): Logger {
  const log =
    (level: LogLevel) =>
    (sentence: string, fields: LogFields = {}) => {
      if (LEVELS.indexOf(level) > LEVELS.indexOf(options.level)) return;
      options.write(formatLine(options, { level, sentence, fields }));
    };
  return {
    error: log('error'),
    warn: log('warn'),
    info: log('info'),
    debug: log('debug'),
    writesDebug: options.level === 'debug',
  };
}

type Entry = { readonly level: LogLevel; readonly sentence: string; readonly fields: LogFields };

function formatLine({ format, wallNow }: LoggerOptions, { level, sentence, fields }: Entry): string {
  const time = new Date(wallNow()).toISOString();
  if (format === 'json') return `${jsonOf({ time, level, message: sentence, ...fields })}\n`;
  return `${time.slice(11, 23)} ${level.padEnd(5)} ${escapeControls(sentence)}${formatFields(fields)}\n`;
}

function formatFields(fields: LogFields): string {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return given.map(([name, value]) => ` ${name}=${formatField(value)}`).join('');
}

/** Without quotes if that is unambiguous, else as JSON. */
function formatField(value: LogFields[string]): string {
  return typeof value === 'string' && !/^[\w.:/@-]+$/.test(value) ? jsonOf(value) : String(value);
}

/** Controls, characters that are not seen or turn the direction of a text, and line separators. */
const NOT_SHOWN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

function escapeControls(text: string): string {
  return text.replace(NOT_SHOWN, (character) => jsonOf(character).slice(1, -1));
}

/** JSON in which also those are escaped that JSON itself leaves as they are: of the controls, all from 0x7f on. */
function jsonOf(value: unknown): string {
  return JSON.stringify(value).replace(NOT_SHOWN, (character) =>
    character.replace(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}
