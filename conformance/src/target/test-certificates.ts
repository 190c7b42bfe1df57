// The test certificates: a broker under test gets them as files, and the runner trusts their CA. A check names the files; here the names
// become paths in a folder that is removed when the process of the runner exits. A name without a file keeps being one: the path of a
// missing certificate. Area: TLS.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigurationRequest, TlsSettings } from '../configuration.ts';
import { loadCertificates } from '../suite-data.ts';
import { makeDataDirectory } from './data-directory.ts';
import type { TlsTrust } from './target-file.ts';

/** Trusts the CA of the test certificates, whatever the name of the host. */
export function testTrust(): TlsTrust {
  return { ca: contentOf('ca.crt').toString(), anyName: true };
}

/** The request with paths where a check named certificates, in a new folder. */
export function withCertificatePaths(request: ConfigurationRequest): ConfigurationRequest {
  const { tls } = request;
  if (tls === undefined || tls === null) return request;
  const folder = writtenFolder();
  const { certificatePath, keyPath } = tls;
  return {
    ...request,
    tls: {
      ...tls,
      certificatePath: join(folder, certificatePath),
      ...(keyPath === undefined ? {} : { keyPath: join(folder, keyPath) }),
    },
  };
}

/** Gives the files of such a request the content of others, or the one that they had at first. */
export function replaceCertificates({ tls }: ConfigurationRequest, by: TlsSettings): void {
  const pairs = [
    [tls?.certificatePath, by.certificatePath],
    [tls?.keyPath, by.keyPath],
  ] as const;
  for (const [path, name] of pairs) {
    if (path !== undefined && name !== undefined) writeFileSync(path, contentOf(name));
  }
}

function contentOf(name: string): Buffer {
  const file = loadCertificates().find((one) => one.name === name);
  if (file === undefined) throw new Error(`the test certificates have no ${name}`);
  return Buffer.from(file.base64, 'base64');
}

function writtenFolder(): string {
  const folder = makeDataDirectory();
  for (const { name, base64 } of loadCertificates())
    writeFileSync(join(folder, name), Buffer.from(base64, 'base64'), { mode: 0o600 });
  return folder;
}
