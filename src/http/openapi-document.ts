// The OpenAPI document of the dashboard's API, as it stands in spec/, which is part of the package.

import { readFile } from 'node:fs/promises';

/** The document as a JSON value, with the path prefix of this dashboard as its server. */
export async function openapiDocument(pathPrefix: string): Promise<object> {
  // Two folders up also from dist/cli, into which the build bundles this file.
  const file = new URL('../../spec/openapi/dashboard.yaml', import.meta.url);
  // Few ask for the document, and the package would delay each start.
  const { parse } = await import('yaml');
  const document = parse(await readFile(file, 'utf8')) as object;
  return { ...document, servers: [{ url: pathPrefix }] };
}
