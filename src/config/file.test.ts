// Configuration files as editors save them: with a byte order mark, in another encoding, with several documents.

import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newFolder } from '../storage/contract/file-place.ts';
import { ConfigurationError } from './configuration.ts';
import { readConfigurationFile } from './file.ts';

let folder: string;

beforeEach(async () => {
  folder = await newFolder();
});

afterEach(() => rm(folder, { recursive: true, force: true }));

async function problemsOf(name: string, content: string | Buffer): Promise<readonly string[]> {
  const path = join(folder, name);
  await writeFile(path, content);
  try {
    readConfigurationFile(path);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  return [];
}

const texts = [
  ['truemq.json', '{"port": 4000, "authToken": "größe"}'],
  ['truemq.yaml', 'port: 4000\nauthToken: größe\n'],
] as const;

describe('a configuration file', () => {
  it.each(texts)('may begin with a byte order mark: %s', async (name, text) => {
    const path = join(folder, name);
    await writeFile(path, `\ufeff${text}`);
    expect(Object.fromEntries(readConfigurationFile(path).entries)).toEqual({
      port: 4_000,
      authToken: 'größe',
    });
  });

  it.each(texts)('in another encoding is told to be none of UTF-8: %s', async (name, text) => {
    const said = [`file ${join(folder, name)}: is not UTF-8; save it as UTF-8`];
    expect(await problemsOf(name, Buffer.from(`\ufeff${text}`, 'utf16le'))).toEqual(said);
    expect(await problemsOf(name, Buffer.from(text.replace('größe', 'x'), 'utf16le'))).toEqual(said);
    expect(await problemsOf(name, Buffer.from(text, 'latin1'))).toEqual(said);
  });

  it.each(['port: 1\n---\nhost: localhost\n', 'port: 1\n---\n', '---\nport: 1\n---\nport: [\n'])(
    'of several documents is told so: %j',
    async (text) => {
      expect(await problemsOf('truemq.yaml', text)).toEqual([
        `file ${join(folder, 'truemq.yaml')}: holds more than one YAML document; leave out the line --- between them`,
      ]);
    },
  );

  it('may say where its document begins and ends', async () => {
    expect(await problemsOf('truemq.yaml', '---\nport: 1\n...\n')).toEqual([]);
  });
});
