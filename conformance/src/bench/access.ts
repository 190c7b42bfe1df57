// How the loads of a measurement reach their targets: over TLS, and as whom. What is asked for is held against each target before anything
// starts: a broker that the runner starts gets certificates and users from it; for the others the target file says TLS, and the flags say the
// credentials. Areas: TLS, AUTH.
import { credentialFlags, readCredentials } from '../cli/credential-flags.ts';
import type { Flag, ParsedFlags } from '../cli/flags.ts';
import { oneOf } from '../cli/flags.ts';
import type { ConfigurationRequest } from '../configuration.ts';
import type { Target } from '../target/target-file.ts';
import { UsageError } from '../usage-error.ts';
import type { Credentials } from '../wire/credentials.ts';

export const authenticationKinds = ['token', 'users'] as const;
export type AuthenticationKind = (typeof authenticationKinds)[number];

export type Access = {
  /** True: over TLS. A target file that says `tls` gets it in any case. */
  readonly tls: boolean;
  /** What a broker that the runner starts demands; absent: nothing. */
  readonly authentication?: AuthenticationKind;
  /** For brokers that the runner does not configure. */
  readonly credentials: Credentials;
};

export const openAccess: Access = { tls: false, credentials: {} };

export const accessFlags: readonly Flag[] = [
  {
    name: 'tls',
    kind: 'boolean',
    help: 'over TLS; the broker that the runner starts gets a test certificate, for others the target file says tls',
  },
  {
    name: 'authentication',
    kind: 'text',
    value: 'KIND',
    help: 'token, or users (a user with an access list): the broker that the runner starts demands it, and the loads log in',
  },
  ...credentialFlags,
];

export const loadToken = '0123456789abcdef0123456789abcdef';
export const loadSuperuser = { username: 'vibemq', password: 'super-secret' } as const;

/** Throws a UsageError. */
export function readAccess(
  flags: ParsedFlags,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Access {
  const kind = flags.text('authentication');
  return {
    tls: flags.boolean('tls'),
    ...(kind === undefined
      ? {}
      : { authentication: oneOf('authentication', kind, authenticationKinds, 'users') }),
    credentials: readCredentials(flags, environment),
  };
}

/** Throws a UsageError that says which target cannot do what is asked for, and what to do. */
export function refuseAccess(access: Access, targets: readonly Target[]): void {
  const configured = targets.filter(isConfigured);
  const others = targets.filter((target) => !isConfigured(target));
  const open = others.find(({ endpoints }) => endpoints?.tcp.tls === undefined);
  if (access.tls && open !== undefined)
    throw new UsageError(
      `--tls: the runner does not configure ${open.name}; say "tls" at endpoints.tcp of its target file (docs/targets.md)`,
    );
  const [foreign] = others;
  if (access.authentication !== undefined && foreign !== undefined)
    throw new UsageError(
      `--authentication: the runner does not configure ${foreign.name}; give its credentials with --username and --password-file, or --token-file`,
    );
  if (Object.keys(access.credentials).length > 0 && others.length === 0 && configured.length > 0)
    throw new UsageError(
      'credentials: with lifecycle.kind "spawn" the runner chooses those of the broker itself; leave them out, and use --authentication users',
    );
}

/** What a broker that the runner starts is asked for. Certificates are names of test certificates. */
export function accessRequest({ tls, authentication }: Access): ConfigurationRequest {
  return {
    ...(tls ? { tls: { certificatePath: 'server.crt', keyPath: 'server.key' } } : {}),
    ...(authentication === undefined ? {} : { authentication: authenticationRequest(authentication) }),
  };
}

/** Throws a UsageError if the adapter says that it does not do what was asked for. */
export function refuseUnsupported(name: string, access: Access, unsupported: readonly string[]): void {
  const wanted = [
    ...(access.tls ? ['tls'] : []),
    ...(access.authentication === undefined ? [] : ['authentication']),
  ];
  const missing = wanted.find((group) =>
    unsupported.some(
      (setting) =>
        setting === group || (setting.startsWith(`${group}.`) && !setting.endsWith('passwordCost')),
    ),
  );
  if (missing !== undefined)
    throw new UsageError(
      `${name}: its adapter says that it has no ${missing}; measure it without --${missing}`,
    );
}

/** The runner writes the configuration of the brokers that it starts. */
export function isConfigured({ lifecycle }: Target): boolean {
  return lifecycle.kind === 'spawn';
}

/** The lowest cost of a password, because logging in is not what is measured. */
function authenticationRequest(
  kind: AuthenticationKind,
): NonNullable<ConfigurationRequest['authentication']> {
  return kind === 'token' ? { token: loadToken } : { superuser: loadSuperuser, passwordCost: 4 };
}
