// Chooses the secrets that stand in files of their own, and says which of what protects the broker is empty. Pure: it is given a function that
// reads. Implements CONFIG-001 for the two keys of a secret, CONFIG-015 and AUTH-054.

import { type Choices, describeOrigin, type Origin, type Setting } from './configuration.ts';
import { HIDDEN, parseText } from './key-kinds.ts';
import { type ConfigurationKey, configurationKeys } from './keys.ts';
import type { SecretFile } from './secret-file.ts';

export type ReadSecretFile = (path: string) => SecretFile;

/** Each secret, and the key that names a file with it. */
const secretFileKeys = [
  ['authToken', 'authTokenFile'],
  ['superuserPassword', 'superuserPasswordFile'],
  ['tlsCertificatePassword', 'tlsCertificatePasswordFile'],
] as const satisfies readonly (readonly [ConfigurationKey, ConfigurationKey])[];

/** In ascending precedence. */
const origins: readonly Origin['kind'][] = ['default', 'file', 'environment', 'flag', 'option'];

/**
 * Chooses the secrets that are in files of their own. Of a secret and such a file, the one of the higher origin counts. Returns a sentence for
 * each problem.
 */
export function chooseSecrets(
  chosen: Choices,
  readSecretFile: ReadSecretFile = () => ({ ok: false, reason: 'cannot be read here' }),
): readonly string[] {
  return secretFileKeys.flatMap(([key, fileKey]) => {
    const file = chosen.get(fileKey);
    if (file === undefined || file.value === '') return [];
    const origin = describeOrigin(file.origin);
    const direct = chosen.get(key);
    const isDirect = direct !== undefined && direct.value !== '';
    const difference = isDirect ? precedenceOf(file.origin) - precedenceOf(direct.origin) : 1;
    if (isDirect && difference < 0) {
      chosen.set(fileKey, { value: '', origin: direct.origin });
      return [];
    }
    if (isDirect && difference === 0) {
      return `${key} (${describeOrigin(direct.origin)}) and ${fileKey} (${origin}) do not go together; allowed is one of the two`;
    }
    const path = String(file.value);
    const content = readSecretFile(path);
    if (!content.ok) return `${fileKey} (${origin}): file ${path} ${content.reason}`;
    const parsed = parseText(configurationKeys[key], content.text);
    if (!parsed.ok)
      return `${fileKey} (${origin}): file ${path} contains ${HIDDEN}; allowed is ${parsed.allowed}`;
    chosen.set(key, { value: parsed.value, origin: { kind: 'file', path } });
    return [];
  });
}

/** The secrets that were read from files of their own: a configuration names such a secret or its file, not both. */
export function secretsFromFiles(settings: readonly Setting[]): ReadonlySet<ConfigurationKey> {
  const given = new Set(settings.filter(({ text }) => text !== '').map(({ key }) => key));
  return new Set(secretFileKeys.filter(([, fileKey]) => given.has(fileKey)).map(([key]) => key));
}

function precedenceOf({ kind }: Origin): number {
  return origins.indexOf(kind);
}

/** Without the first there is no TLS, and without the other one clients need no certificate. */
const protectingFiles = [
  'tlsCertificatePath',
  'tlsClientCaPath',
] as const satisfies readonly ConfigurationKey[];

/** A variable that was forgotten, as in `--auth-token "$TOKEN"` or `--tls-client-ca-path "$CA"`, must not open the broker without a word. */
export function emptySecrets(chosen: Choices): readonly string[] {
  const ofTls = protectingFiles.flatMap((key) => {
    const choice = chosen.get(key);
    return choice?.value === '' ? emptyForThisStart(key, choice.origin) : [];
  });
  const ofSecrets = secretFileKeys.flatMap(([key, fileKey]) => {
    const isThere = (chosen.get(key)?.value ?? '') !== '';
    return isThere ? [] : [key, fileKey].flatMap((name) => emptyForThisStart(name, chosen.get(name)?.origin));
  });
  return [...ofSecrets, ...ofTls];
}

function emptyForThisStart(key: ConfigurationKey, origin: Origin | undefined): readonly string[] {
  const isForThisStart = origin !== undefined && ['environment', 'flag', 'option'].includes(origin.kind);
  return isForThisStart ? [`${key} (${describeOrigin(origin)}) is empty, so there is none`] : [];
}
