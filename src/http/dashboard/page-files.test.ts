// The files of the page, from a folder as the build makes it.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { type PageFiles, readPage } from './page-files.ts';

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** The page of a folder with these files. */
function pageOf(files: Readonly<Record<string, string | Uint8Array>>): Promise<PageFiles | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'page-'));
  folders.push(folder);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return readPage(pathToFileURL(`${folder}/`));
}

async function builtPage(files: Readonly<Record<string, string | Uint8Array>>): Promise<PageFiles> {
  const page = await pageOf({ 'index.html': '<!doctype html>', ...files });
  if (page === undefined) throw new Error('There is no page.');
  return page;
}

function get(acceptEncoding?: string): Request {
  const headers = acceptEncoding === undefined ? {} : { 'accept-encoding': acceptEncoding };
  return new Request('http://localhost/', { headers });
}

describe('the page', () => {
  it('is absent when its folder or its index.html is', async () => {
    expect(await pageOf({})).toBeUndefined();
    expect(await pageOf({ 'assets/main-4F5KQ2ZX.js': 'x' })).toBeUndefined();
    expect(await readPage(new URL('file:///nowhere/at/all/'))).toBeUndefined();
  });

  it('may have no assets', async () => {
    expect((await builtPage({})).asset('main.js', get()).status).toBe(404);
  });

  it('loads nothing from elsewhere, is not framed, and is asked for anew each time', async () => {
    const response = (await builtPage({})).index(get());
    expect(await response.text()).toBe('<!doctype html>');
    expect(Object.fromEntries(response.headers)).toEqual({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    });
  });
});

describe('an asset', () => {
  it.each([
    ['main-4F5KQ2ZX.js', 'text/javascript; charset=utf-8', 'public, max-age=31536000, immutable'],
    ['main.0a1b2c3d4e.css', 'text/css; charset=utf-8', 'public, max-age=31536000, immutable'],
    ['main.js', 'text/javascript; charset=utf-8', 'no-store'],
    ['something-important.svg', 'image/svg+xml', 'no-store'],
    ['icon.png', 'image/png', 'no-store'],
    ['data.bin', 'application/octet-stream', 'no-store'],
  ])('%s has type %s and is kept: %s', async (name, type, kept) => {
    const { headers } = (await builtPage({ [`assets/${name}`]: 'x' })).asset(name, get());
    expect([
      headers.get('content-type'),
      headers.get('cache-control'),
      headers.get('x-content-type-options'),
    ]).toEqual([type, kept, 'nosniff']);
  });

  it.each(['../index.html', '..', '', 'index.html', 'folder', 'main.js.gz', 'toString'])(
    'with the name %j does not exist',
    async (name) => {
      const page = await builtPage({
        'assets/main.js': 'x',
        'assets/main.js.gz': 'y',
        'assets/folder/x.js': 'x',
      });
      expect(page.asset(name, get()).status).toBe(404);
    },
  );

  it.each([
    ['gzip', true],
    ['br, gzip;q=0.5', true],
    ['deflate, GZIP', true],
    [undefined, false],
    ['br', false],
    ['gzip;q=0', false],
    ['gzip; q=0.0', false],
    ['x-gzip', false],
  ])('is sent compressed to who accepts it: %s', async (accepted, isCompressed) => {
    const compressed = gzipSync('long');
    const page = await builtPage({ 'assets/a.js': 'long', 'assets/a.js.gz': compressed });
    const response = page.asset('a.js', get(accepted));
    expect([response.headers.get('content-encoding'), response.headers.get('vary')]).toEqual([
      isCompressed ? 'gzip' : null,
      'accept-encoding',
    ]);
    expect(Buffer.from(await response.arrayBuffer())).toEqual(
      isCompressed ? compressed : Buffer.from('long'),
    );
  });
});
