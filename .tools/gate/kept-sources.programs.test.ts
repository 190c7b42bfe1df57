// The sources of a kept commit: what the history has is unpacked as it was, and what it does not have is no error.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { committedSources, unpackSources } from './kept-sources.ts';

const folder = mkdtempSync(join(tmpdir(), 'truemq-kept-'));
const root = join(folder, 'repository');
const target = join(folder, 'unpacked');

function git(...args: readonly string[]): string {
  const author = ['-c', 'user.name=Test', '-c', 'user.email=test@example.org'];
  return execFileSync('git', [...author, ...args], { cwd: root, encoding: 'utf8' }).trim();
}

function write(path: string, text: string): void {
  writeFileSync(join(root, path), text);
}

beforeAll(() => {
  for (const path of ['src', 'conformance', '.tools/gate']) mkdirSync(join(root, path), { recursive: true });
  git('init', '-q');
  for (const path of ['src/a.ts', 'conformance/b.ts', '.tools/gate/c.ts', 'package.json']) write(path, 'old');
  git('add', '.');
  git('commit', '-qm', 'first');
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the sources of a kept commit', () => {
  it('are those of the commit, whatever has become of them', () => {
    const commit = committedSources(root);
    write('src/a.ts', 'new');
    git('commit', '-qam', 'second');
    mkdirSync(target);
    writeFileSync(join(target, 'rest'), 'of another commit');
    expect(unpackSources(root, commit, target)).toBe(true);
    expect(readFileSync(join(target, 'src/a.ts'), 'utf8')).toBe('old');
    expect(existsSync(join(target, 'rest'))).toBe(false);
  });

  it.each(['0123456789ab', 'no commit'])('are not there for %s', (commit) => {
    expect(unpackSources(root, commit, target)).toBe(false);
    expect(existsSync(target)).toBe(false);
  });

  it('are not there without a repository', () => {
    expect(unpackSources(folder, 'HEAD', target)).toBe(false);
  });

  it('have no commit while they are changed', () => {
    write('src/a.ts', 'changed');
    expect(() => committedSources(root)).toThrow('src/a.ts');
  });
});
