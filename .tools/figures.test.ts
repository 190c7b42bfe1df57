// The page of figures says which code has changed since they were measured: after a change on the hot path `npm run refresh` (or
// `npm run bench -- --mark-stale`) renews that line, in seconds and without a measurement.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { codeLines, type Digests, digestsOf, hotPath, pageWith, renewed } from './figures/hot-path.ts';
import { pageFile, presentDigests, readKeptCode, resultTimes } from './figures/kept-code.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const sources = hotPath.map((folder) => ({ path: `${folder}/a.ts`, text: 'const a = 1; // one' }));
const now = digestsOf(sources);
const times = { throughput: '2026-01-01', depth: '2026-01-02' };
const kept = renewed({}, times, now);

function codeWith(path: string, text: string): Digests {
  return digestsOf([...sources.filter((source) => source.path !== path), { path, text }]);
}

describe('the page of figures', () => {
  it('says which code has changed since, after a change by `npm run refresh`', async () => {
    const page = readFileSync(join(root, pageFile), 'utf8');
    const lines = codeLines(readKeptCode(root), resultTimes(root), presentDigests(root));
    const problem = 'code on the hot path has changed: npm run bench -- --mark-stale';
    await expect(pageWith(page, lines), problem).toMatchFileSnapshot(join(root, pageFile));
  });

  it('needs a place for it', () => {
    expect(() => pageWith('# Figures', [])).toThrow('no place');
    expect(pageWith('a\n<!-- code -->\nold\n<!-- end code -->\nb', ['new'])).toBe(
      'a\n<!-- code -->\nnew\n<!-- end code -->\nb',
    );
  });
});

describe('a change on the hot path', () => {
  it('is told with its folder and the figures that it concerns', () => {
    const changed = codeWith('src/broker/a.ts', 'const a = 2;');
    expect(codeLines(kept, times, changed)).toEqual([
      '**Measured before changes to `src/broker`**: throughput, depth.',
    ]);
  });

  it('is a new, removed or renamed file too', () => {
    const more = digestsOf([...sources, { path: 'src/net/b.ts', text: '' }]);
    expect(codeLines(kept, times, more)[0]).toContain('`src/net`');
    const renamed = digestsOf(
      sources.map(({ path, text }) => ({ path: path.replace('net/a', 'net/b'), text })),
    );
    expect(codeLines(kept, times, renamed)[0]).toContain('`src/net`');
  });

  it('is not a comment', () => {
    const commented = codeWith('src/broker/a.ts', '/* first */ const a = 1;');
    expect(codeLines(kept, times, commented)[0]).toContain('has not changed');
  });

  it('no longer concerns a figure that was measured afterwards', () => {
    const changed = codeWith('src/broker/a.ts', 'const a = 2;');
    const later = { ...times, depth: '2026-01-03' };
    expect(codeLines(kept, later, changed)).toEqual([
      '**Measured before changes to `src/broker`**: throughput.',
      '',
      '**Measured before changes that are not recorded**: depth.',
    ]);
    expect(codeLines(renewed(kept, later, changed), later, changed)).toEqual([
      '**Measured before changes to `src/broker`**: throughput.',
    ]);
  });

  it('cannot be overlooked because a folder is gone', () => {
    expect(() => digestsOf(sources.slice(1))).toThrow(`${hotPath[0]} has no source`);
  });
});
