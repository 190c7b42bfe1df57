// The forms of JSON records that a broker writes: which fields they must have, and what their values look like. Pure. Area: BODY.
import { display } from '../expectation.ts';
import { timestamp } from '../record-forms.ts';
import type { UntimedBreach } from './watched-breach.ts';

export type JsonFields = Readonly<Record<string, unknown>>;

type Field = {
  readonly name: string;
  readonly fits: (value: unknown) => boolean;
  /** What a value of another form breaks, if not what an absent field breaks. */
  readonly clause?: string;
};

export type RecordForm = {
  /** The rule in words. */
  readonly what: string;
  /** What an absent field breaks. */
  readonly clause: string;
  readonly required: readonly Field[];
  /** They may be absent or null. `clause`: what a value of another form breaks. */
  readonly optional?: readonly (Field & { readonly clause: string })[];
};

/** A field that a record lacks, or has in another form; undefined if there is none. */
export function fieldBreach(record: JsonFields, form: RecordForm): UntimedBreach | undefined {
  const broken = (clause: string, expected: string): UntimedBreach => {
    return { clause, what: form.what, expected, actual: display(record) };
  };
  for (const { name, fits, clause = form.clause } of form.required) {
    if (!Object.hasOwn(record, name)) return broken(form.clause, `field ${name}`);
    if (!fits(record[name])) return broken(clause, expectedText(name, fits));
  }
  const odd = form.optional?.find(({ name, fits }) => !isNothing(record[name]) && !fits(record[name]));
  return odd === undefined ? undefined : broken(odd.clause, expectedText(odd.name, odd.fits));
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null;
}

/** The value of a JSON text; undefined if it is none. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function isRecord(value: unknown): value is JsonFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0;
export const isWhole = (value: unknown): boolean => Number.isInteger(value);
export const isNumber = (value: unknown): boolean => typeof value === 'number';
export const isText = (value: unknown): boolean => typeof value === 'string';
export const isBoolean = (value: unknown): boolean => typeof value === 'boolean';
export const isAnything = (): boolean => true;

const timeSpan = /^(\d+\.)?\d\d:\d\d:\d\d(\.\d{1,7})?$/;

export const isTimestamp = (value: unknown): boolean => typeof value === 'string' && timestamp.test(value);
export const isTimeSpan = (value: unknown): boolean => typeof value === 'string' && timeSpan.test(value);

/** What the forms are, in words. */
const words: ReadonlyMap<Field['fits'], string> = new Map([
  [isCount, 'a whole number from 0 up'],
  [isWhole, 'a whole number'],
  [isNumber, 'a number'],
  [isText, 'a text'],
  [isBoolean, 'true or false'],
  [isTimestamp, 'a time in UTC, as in ISO 8601'],
  [isTimeSpan, 'a time span, [d.]hh:mm:ss'],
]);

function expectedText(name: string, fits: Field['fits']): string {
  return `${name}: ${words.get(fits) ?? 'a value of another form'}`;
}
