// The OpenAPI document of the dashboard's API, as it stands in spec/, which is part of the package.

import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';

/** The document as a JSON value, with the path prefix of this dashboard as its server. */
export async function openapiDocument(pathPrefix: string): Promise<object> {
  const file = new URL('../../../spec/openapi/dashboard.yaml', import.meta.url);
  const document = parse(await readFile(file, 'utf8')) as object;
  return { ...document, servers: [{ url: pathPrefix }] };
}
