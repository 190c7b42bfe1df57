// A data directory can be damaged: every file in it, in whatever folder, is as long as before and says something else. Where none can be
// created, the reason is one sentence.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SystemFault } from '../system-fault.ts';
import { damageFiles, makeDataDirectory, removeDataDirectory } from './data-directory.ts';

describe('damageFiles', () => {
  let path = '';
  beforeEach(() => {
    path = makeDataDirectory();
  });
  afterEach(() => removeDataDirectory(path));

  it('overwrites every file, in folders too, and keeps its length', () => {
    mkdirSync(join(path, 'inner'));
    const files = [join(path, 'store.db'), join(path, 'inner', 'log')];
    for (const file of files) writeFileSync(file, 'what was kept');
    expect(damageFiles(path)).toBe(2);
    for (const file of files) expect(readFileSync(file, 'utf8')).toBe('Z'.repeat('what was kept'.length));
  });

  it('counts nothing where there is nothing to damage', () => {
    writeFileSync(join(path, 'empty'), '');
    expect(damageFiles(path)).toBe(0);
  });
});

describe('makeDataDirectory', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('says in one sentence why there can be none', () => {
    const folder = join(tmpdir(), 'truemq-conformance-test-none');
    vi.stubEnv('TMPDIR', folder);
    expect(makeDataDirectory).toThrow(SystemFault);
    expect(makeDataDirectory).toThrow(
      `no data directory for the broker can be created in ${folder}: the folder does not exist (ENOENT); create it, or choose another path with the environment variable TMPDIR`,
    );
  });
});
