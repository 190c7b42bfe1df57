// The test certificates as files: a broker under test gets their paths, and the runner trusts their CA. A check names the files; here the
// names become paths in a folder that is removed when the process of the runner exits. A name without a file keeps being one: the path of a
// missing certificate. Area: TLS.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigurationRequest } from '../configuration.ts';
import { loadCertificates } from '../suite-data.ts';
import { makeDataDirectory } from './data-directory.ts';
import type { TlsTrust } from './target-file.ts';

let folder: string | undefined;

/** The path of a test certificate or key; the files are written at the first call. */
export function certificatePath(name: string): string {
  folder ??= writtenFolder();
  return join(folder, name);
}

function writtenFolder(): string {
  const made = makeDataDirectory();
  for (const { name, base64 } of loadCertificates())
    writeFileSync(join(made, name), Buffer.from(base64, 'base64'), { mode: 0o600 });
  return made;
}

/** Trusts the CA of the test certificates, whatever the name of the host. */
export function testTrust(): TlsTrust {
  return { caFile: certificatePath('ca.pem'), anyName: true };
}

/** The request with paths where a check named certificates. */
export function withCertificatePaths(request: ConfigurationRequest): ConfigurationRequest {
  const { tls } = request;
  if (tls === undefined || tls === null) return request;
  const { certificatePath: certificate, keyPath: key } = tls;
  return {
    ...request,
    tls: {
      ...tls,
      certificatePath: certificatePath(certificate),
      ...(key === undefined ? {} : { keyPath: certificatePath(key) }),
    },
  };
}
