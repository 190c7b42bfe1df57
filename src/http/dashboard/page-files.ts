// The page of the dashboard: the files that the build has put into its folder, read once. A request is answered from memory by the exact name of a file,
// so no path leads out of the folder. Implements DASH-035.

import { readdir, readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { notFound } from '../problem.ts';

type PageFile = {
  readonly body: Uint8Array<ArrayBuffer>;
  /** The same, compressed, if the build has put it beside: `<file>.gz`. */
  readonly gzipBody: Uint8Array<ArrayBuffer> | undefined;
  readonly headers: Readonly<Record<string, string>>;
};

/** The page may load its own scripts, styles and data, and nothing from anywhere else; no other page may frame it. */
const pageHeaders = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
} as const;

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

/** `main-4F5KQ2ZX.js`: another content would have another name. */
const HASHED_NAME = /[-.](?:[A-Z0-9]{8}|[0-9a-f]{8,64})\.[a-z0-9]+$/;

export class PageFiles {
  readonly #index: PageFile;
  readonly #assets: ReadonlyMap<string, PageFile>;

  constructor(index: PageFile, assets: ReadonlyMap<string, PageFile>) {
    this.#index = index;
    this.#assets = assets;
  }

  /** `index.html`. */
  index(request: Request): Response {
    return fileResponse(this.#index, request);
  }

  /** A file of `assets/`, by its exact name. */
  asset(name: string, request: Request): Response {
    const file = this.#assets.get(name);
    return file === undefined ? notFound('The page has no such file.') : fileResponse(file, request);
  }
}

/** The page in that folder, which ends with a slash; undefined when the page was not built: it has no `index.html`. */
export async function readPage(folder: URL): Promise<PageFiles | undefined> {
  const index = await readPageFile(new URL('index.html', folder));
  if (index === undefined) return undefined;
  const assetFolder = new URL('assets/', folder);
  const assets = new Map<string, PageFile>();
  for (const name of await fileNames(assetFolder)) {
    const file = name.endsWith('.gz') ? undefined : await readPageFile(new URL(name, assetFolder));
    if (file !== undefined) assets.set(name, file);
  }
  return new PageFiles(index, assets);
}

async function fileNames(folder: URL): Promise<readonly string[]> {
  const entries = await ifThere(readdir(folder, { withFileTypes: true }));
  return (entries ?? []).filter((entry) => entry.isFile()).map(({ name }) => name);
}

async function readPageFile(file: URL): Promise<PageFile | undefined> {
  const body = await ifThere(readFile(file));
  if (body === undefined) return undefined;
  const gzipBody = await ifThere(readFile(new URL(`${file.href}.gz`)));
  return { body, gzipBody, headers: headersOf(file.pathname, gzipBody !== undefined) };
}

function headersOf(path: string, hasGzip: boolean): Readonly<Record<string, string>> {
  return {
    ...pageHeaders,
    'content-type': contentTypes[extname(path)] ?? 'application/octet-stream',
    'cache-control': HASHED_NAME.test(path) ? 'public, max-age=31536000, immutable' : 'no-store',
    ...(hasGzip && { vary: 'accept-encoding' }),
  };
}

function fileResponse({ body, gzipBody, headers }: PageFile, request: Request): Response {
  if (gzipBody === undefined || !acceptsGzip(request.headers.get('accept-encoding')))
    return new Response(body, { headers });
  return new Response(gzipBody, { headers: { ...headers, 'content-encoding': 'gzip' } });
}

function acceptsGzip(acceptEncoding: string | null): boolean {
  return (acceptEncoding ?? '')
    .split(',')
    .some((part) => /^\s*gzip\s*(;(?!\s*q=0(\.0*)?\s*$)|$)/i.test(part));
}

async function ifThere<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
