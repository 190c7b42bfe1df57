// The built page of the dashboard: complete, small, without anything that its Content-Security-Policy forbids or that another machine would be asked for.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BuiltPage, buildPage } from './page.mjs';

const MAX_GZIPPED_BYTES = 100_000;

const folder = mkdtempSync(join(tmpdir(), 'page-'));
let built: BuiltPage = { paths: [], gzippedBytes: 0 };
beforeAll(() => {
  built = buildPage(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const read = (path: string): string => readFileSync(join(folder, path), 'utf8');
const pathOf = (pattern: RegExp): string => built.paths.find((path) => pattern.test(path)) ?? '';

describe('the built page', () => {
  it('is index.html, one script and one style sheet, named by their content', () => {
    expect(built.paths).toHaveLength(3);
    expect(built.paths).toContain('index.html');
    expect(pathOf(/^assets\/app-[A-Z0-9]{8}\.js$/)).not.toBe('');
    expect(pathOf(/^assets\/app-[A-Z0-9]{8}\.css$/)).not.toBe('');
  });

  it('has each file gzipped beside it', () => {
    for (const path of built.paths) {
      expect(gunzipSync(readFileSync(join(folder, `${path}.gz`))).toString('utf8')).toBe(read(path));
    }
  });

  it(`has fewer than ${MAX_GZIPPED_BYTES} bytes, gzipped`, () => {
    expect(built.gzippedBytes).toBeGreaterThan(10_000);
    expect(built.gzippedBytes).toBeLessThan(MAX_GZIPPED_BYTES);
  });

  it('names its assets relative to itself, so that it works below every prefix', () => {
    const index = read('index.html');
    expect(index).toContain(`src="${pathOf(/\.js$/)}"`);
    expect(index).toContain(`href="${pathOf(/\.css$/)}"`);
    expect(index).not.toContain('{{');
  });

  it('has no script and no style in its markup', () => {
    expect(read('index.html')).not.toMatch(/<script(?![^>]* src=)|<style|\sstyle=|\son\w+=/i);
    expect(read(pathOf(/\.js$/))).not.toMatch(
      /setAttribute\(["'`]style|\beval\(|new Function\(|innerHTML=(?!["'`]{2})\w+\.html/,
    );
  });

  it('carries the licenses of the packages that are in it', () => {
    const script = read(pathOf(/\.js$/));
    expect(script).toMatch(/^\/\*!\npreact\n/);
    expect(script.match(/Permission is hereby granted/g)).toHaveLength(2);
  });

  it('asks no other machine for anything', () => {
    expect(read(pathOf(/\.css$/))).not.toMatch(/url\(|@import/);
    const addresses = `${read('index.html')}${read(pathOf(/\.js$/))}`.match(/https?:\/\/[\w.]+/g) ?? [];
    // Names of namespaces, which nothing asks for.
    expect(addresses.filter((address) => !/^https?:\/\/www\.w3\.org/.test(address))).toEqual([]);
  });
});
