// How loads reach their targets: what is asked for, of whom, and the combinations that are refused, each with what to do.
import { describe, expect, it } from 'vitest';
import { parseFlags } from '../cli/flags.ts';
import type { Target } from '../target/target-file.ts';
import type { Access } from './access.ts';
import {
  accessFlags,
  accessRequest,
  openAccess,
  readAccess,
  refuseAccess,
  refuseUnsupported,
} from './access.ts';

const spawned: Target = { schema: 1, name: 'ours', lifecycle: { kind: 'spawn', command: ['x'] } };
const tcp = { host: '127.0.0.1', port: 1 };
const attached: Target = { schema: 1, name: 'theirs', lifecycle: { kind: 'attach' }, endpoints: { tcp } };
const secured: Target = { ...attached, endpoints: { tcp: { ...tcp, tls: {} } } };

const read = (...args: readonly string[]): Access => readAccess(parseFlags(args, accessFlags), {});

describe('the access of a measurement', () => {
  it('is plain and without credentials unless something is given', () => {
    expect(read()).toEqual(openAccess);
    expect(accessRequest(read())).toEqual({});
  });

  it('asks a broker that the runner starts for a certificate and for users', () => {
    const access = read('--tls', '--authentication', 'users');
    expect(accessRequest(access)).toMatchObject({
      tls: { certificatePath: 'server.crt', keyPath: 'server.key' },
      authentication: { superuser: { username: 'vibemq' } },
    });
    expect(accessRequest(read('--authentication', 'token'))).toEqual({
      authentication: { token: expect.any(String) },
    });
  });

  it('takes the credentials of the other commands', () => {
    const environment = { CONFORMANCE_USERNAME: 'anna', CONFORMANCE_PASSWORD: 'a' };
    const access = readAccess(parseFlags([], accessFlags), environment);
    expect(access.credentials).toEqual({ authUsername: 'anna', authPassword: 'a' });
  });

  it('is refused for an unknown kind of authentication', () => {
    expect(() => read('--authentication', 'guests')).toThrow('guests came, allowed: token, users');
  });
});

describe('an access that a target cannot have is refused with what to do', () => {
  const credentials = { authToken: 't' };

  it.each([
    [{ ...openAccess, tls: true }, [attached], 'theirs; say "tls" at endpoints.tcp of its target file'],
    [
      { ...openAccess, authentication: 'users' },
      [spawned, attached],
      'theirs; give its credentials with --username and --password-file, or --token-file',
    ],
    [{ ...openAccess, credentials }, [spawned], 'leave them out, and use --authentication users'],
  ] as const)('%o', (access, targets, text) => {
    expect(() => refuseAccess(access, targets)).toThrow(text);
  });

  it('and the others are not', () => {
    refuseAccess({ ...openAccess, tls: true }, [spawned, secured]);
    refuseAccess({ ...openAccess, tls: true, authentication: 'users' }, [spawned]);
    refuseAccess({ ...openAccess, credentials }, [spawned, attached]);
  });

  it('also when the adapter says so', () => {
    const access: Access = { ...openAccess, tls: true, authentication: 'users' };
    const refuse = (...unsupported: readonly string[]) => refuseUnsupported('ours', access, unsupported);
    expect(() => refuse('tls')).toThrow(
      'ours: its adapter says that it has no tls; measure it without --tls',
    );
    expect(() => refuse('authentication.superuser')).toThrow('measure it without --authentication');
    refuse('authentication.passwordCost', 'storage');
    refuseUnsupported('ours', openAccess, ['tls', 'authentication']);
  });
});
