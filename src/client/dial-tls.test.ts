// Connecting with TLS over real sockets: which brokers the client trusts, and the errors that a user gets about the others.

import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { createServer, type TlsOptions } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { ScriptedBroker } from '../testing/scripted-broker.ts';
import { FIXTURE_PASSWORD, tlsFixture } from '../testing/tls-fixture.ts';
import { connect } from './index.ts';
import { tlsFailure } from './tls-failure.ts';

const host = '127.0.0.1';
const ca = tlsFixture('ca.crt');
const undo: (() => unknown)[] = [];

afterEach(() => {
  for (const step of undo.splice(0)) step();
});

const read = (name: string) => readFileSync(tlsFixture(name));

/** The port of a broker with this certificate, which welcomes every client. */
async function brokerWith(name: string, options: TlsOptions = {}): Promise<number> {
  const own = { cert: read(`${name}.crt`), key: read(`${name}.key`) };
  const server = createServer({ ...own, ...options }, (socket) => void new ScriptedBroker(socket).welcome());
  server.on('tlsClientError', (_error, socket) => void socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  undo.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

async function failure(options: Parameters<typeof connect>[0]): Promise<string> {
  const error: unknown = await connect({ host, useTls: true, ...options }).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ name: 'ConnectionError' });
  return (error as Error).message.replace(/:\d+:/, ':PORT:');
}

describe('a client with TLS', () => {
  it.each(['127.0.0.1', 'localhost'])(
    'trusts the authority that it is given, for %s [CLIENT-033, TLS-010]',
    async (name) => {
      const port = await brokerWith('server');
      for (const tlsCa of [ca, readFileSync(ca, 'utf8'), readFileSync(ca)]) {
        const client = await connect({ host: name, port, useTls: true, tlsCa });
        await client.close();
      }
    },
  );

  it('says which name it expects in the certificate', async () => {
    const port = await brokerWith('wrong-host');
    const options = { host, port, useTls: true, tlsCa: ca, tlsServerName: 'elsewhere.example' };
    const client = await connect(options);
    await client.close();
  });

  it('sends the name of the host, and no address in its place', async () => {
    const names: string[] = [];
    const SNICallback: TlsOptions['SNICallback'] = (name, done) => {
      names.push(name);
      done(null);
    };
    const port = await brokerWith('server', { SNICallback });
    for (const name of ['localhost', '127.0.0.1'])
      await (await connect({ host: name, port, useTls: true, tlsCa: ca })).close();
    expect(names).toEqual(['localhost']);
  });

  it.each(['self-signed', 'expired', 'wrong-host'])(
    'accepts any certificate when it is told so: %s [TLS-010]',
    async (name) => {
      const port = await brokerWith(name);
      const client = await connect({ host, port, useTls: true, skipCertificateValidation: true });
      await client.close();
    },
  );

  it('presents its own certificate', async () => {
    const port = await brokerWith('server', { requestCert: true, ca: read('client-ca.crt') });
    const own = { tlsCertificate: tlsFixture('client.crt'), tlsKey: tlsFixture('client.key') };
    const client = await connect({ host, port, useTls: true, tlsCa: ca, ...own });
    await client.close();
  });

  it('opens its key with a password', async () => {
    const port = await brokerWith('server');
    const client = await connect({
      ...{ host, port, useTls: true, tlsCa: ca },
      ...{ tlsCertificate: tlsFixture('server.crt'), tlsKey: tlsFixture('server-encrypted.key') },
      tlsKeyPassword: FIXTURE_PASSWORD,
    });
    await client.close();
  });
});

describe('a client with TLS does not connect', () => {
  const untrusted =
    "cannot connect to 127.0.0.1:PORT: the broker's certificate is signed by no authority that the client trusts; tlsCa says which one to trust";

  it.each([
    ['server', {}, untrusted],
    ['self-signed', {}, untrusted],
    ['self-signed', { tlsCa: ca }, untrusted],
    ['expired', { tlsCa: ca }, "cannot connect to 127.0.0.1:PORT: the broker's certificate has expired"],
    [
      'not-yet-valid',
      { tlsCa: ca },
      "cannot connect to 127.0.0.1:PORT: the broker's certificate is not valid yet",
    ],
  ])('to a broker that it cannot trust: %s, %j [TLS-010]', async (name, options, message) => {
    expect(await failure({ port: await brokerWith(name), ...options })).toBe(message);
  });

  it('to a broker with the certificate of another one [TLS-010]', async () => {
    expect(await failure({ port: await brokerWith('wrong-host'), tlsCa: ca })).toMatch(
      /^cannot connect to 127\.0\.0\.1:PORT: the broker's certificate is for another name \(.*127\.0\.0\.1/,
    );
  });

  it('to a broker without TLS', async () => {
    const server = createTcpServer((socket) => void socket.on('error', () => undefined).end('no TLS here'));
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    undo.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    expect(await failure({ port })).toBe('cannot connect to 127.0.0.1:PORT: there is no TLS on this port');
  });

  it('to a broker that does not answer its handshake in time', async () => {
    const server = createTcpServer((socket) => void socket.resume());
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    undo.push(() => server.close());
    const { port } = server.address() as AddressInfo;
    expect(await failure({ port, commandTimeoutMs: 100 })).toBe(
      'cannot connect to 127.0.0.1:PORT: ETIMEDOUT',
    );
  });

  it('to a broker of the past', async () => {
    const past: TlsOptions = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' };
    const port = await brokerWith('server', past);
    expect(await failure({ port, tlsCa: ca })).toBe(
      'cannot connect to 127.0.0.1:PORT: client and broker have no version of TLS in common',
    );
  });

  it('without the certificate that the broker asks for', async () => {
    const port = await brokerWith('server', { requestCert: true, ca: read('client-ca.crt') });
    // The broker's alert says so, but it may be lost when the broker resets the connection behind it.
    expect(await failure({ port, tlsCa: ca })).toMatch(/^the connection (ended|to the broker has ended)/);
    const alert = Object.assign(new Error(), { code: 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED' });
    expect(tlsFailure(alert)).toBe(
      'the broker asks the client for a certificate; tlsCertificate and tlsKey give it',
    );
  });

  it('with a file that it cannot read', async () => {
    expect(await failure({ tlsCa: tlsFixture('client.key') })).toBe(
      'tlsCa: there is no certificate in PEM in it',
    );
    expect(await failure({ tlsCa: tlsFixture('absent.crt') })).toMatch(
      /^tlsCa: cannot read .*absent\.crt: ENOENT/,
    );
  });

  it.each([
    ['tlsCa', 'ca.crt', /^tlsCa: a certificate in it is cut off$/],
    ['tlsCertificate', 'client.crt', /^tlsCertificate cannot be used: /],
    ['tlsKey', 'client.key', /^tlsKey cannot be used: /],
  ])('with %s that is not written whole', async (option, file, message) => {
    const own = { tlsCertificate: tlsFixture('client.crt'), tlsKey: tlsFixture('client.key') };
    const half = readFileSync(tlsFixture(file), 'latin1').slice(0, 150);
    expect(await failure({ ...own, [option]: half })).toMatch(message);
  });

  it('with a certificate and a key that do not belong together', async () => {
    const own = { tlsCertificate: tlsFixture('client.crt'), tlsKey: tlsFixture('stranger.key') };
    expect(await failure(own)).toMatch(/^tlsCertificate and tlsKey together cannot be used: .*mismatch/);
  });
});
