// Reads the recorded frames of fixtures/wire and the faulty ones of fixtures/malformed as data. Asserts nothing.

import { readdirSync, readFileSync } from 'node:fs';

export type RecordedFrame = {
  readonly file: string;
  readonly seq: number;
  readonly from: 'client' | 'broker';
  readonly hex: string;
  readonly compression: 'none' | 'gzip' | 'brotli';
  readonly version: number;
  readonly command: string;
  readonly id: string;
  readonly queue: string;
  readonly payload: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly errorCode?: string;
  readonly errorMessage?: string;
  readonly trailingBytes: number;
};

export type MalformedCase = {
  readonly name: string;
  readonly requirement: string;
  /** The bytes on the wire, spaces allowed; `repeat` adds a byte many times over. */
  readonly hex: string;
  readonly repeat?: { readonly byte: string; readonly count: number };
  readonly code: string;
  readonly closes: boolean;
  /** The id that the answer must carry; absent when none can be read. */
  readonly id?: string;
};

/** A frame, or that a side has ended the connection. */
export type RecordedEntry =
  | Omit<RecordedFrame, 'file'>
  | { readonly seq: number; readonly from: 'client' | 'broker'; readonly end: true };

type Recording = { readonly connections: readonly (readonly RecordedEntry[])[] };

const fixtures = new URL('../../fixtures/', import.meta.url);

/** Every recorded frame of every file, in the files' order. */
export function recordedFrames(): readonly RecordedFrame[] {
  return jsonFiles('wire/').flatMap(({ file, content }) => {
    const { connections } = content as Recording;
    return connections.flat().flatMap((entry) => ('hex' in entry ? [{ file, ...entry }] : []));
  });
}

/** The connections of one file, each in the order in which its entries passed. */
export function recordedConnections(title: string): Recording['connections'] {
  const text = readFileSync(new URL(`wire/${title}.json`, fixtures), 'utf8');
  return (JSON.parse(text) as Recording).connections;
}

/** The cases of one file of fixtures/malformed. */
export function malformedCases(name: 'frames' | 'bodies' | 'found'): readonly MalformedCase[] {
  return JSON.parse(
    readFileSync(new URL(`malformed/${name}.json`, fixtures), 'utf8'),
  ) as readonly MalformedCase[];
}

export function malformedBytes(malformed: MalformedCase): Buffer {
  const { byte, count } = malformed.repeat ?? { byte: '00', count: 0 };
  const start = Buffer.from(malformed.hex.replaceAll(' ', ''), 'hex');
  return Buffer.concat([start, Buffer.alloc(count, Buffer.from(byte, 'hex'))]);
}

function jsonFiles(folder: string): readonly { readonly file: string; readonly content: unknown }[] {
  const directory = new URL(folder, fixtures);
  const names = readdirSync(directory).filter((name) => name.endsWith('.json'));
  return names.map((file) => ({
    file,
    content: JSON.parse(readFileSync(new URL(file, directory), 'utf8')) as unknown,
  }));
}
