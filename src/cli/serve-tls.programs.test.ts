// `truemq serve` with TLS as a process of its own: its exit code when it cannot start, SIGHUP, and how long a bad client can hold it up.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { connect as dialTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as dialTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { connect } from '../client/index.ts';
import { startProcess } from '../testing/crash/broker-process.ts';
import { tlsFixture } from '../testing/tls-fixture.ts';
import { truemqProgram } from '../testing/truemq-program.ts';

const free = [
  '--port',
  '0',
  '--health-port',
  '0',
  '--dashboard',
  'off',
  '--rate-limit',
  'off',
  '--print-ready',
];
const trust = { useTls: true, tlsCa: tlsFixture('ca.crt') };
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'truemq-tls-'));
});

afterAll(() => rm(folder, { recursive: true }));

function flags(certificate: string, key: string, ...more: readonly string[]): readonly string[] {
  return [
    ...truemqProgram,
    'serve',
    ...free,
    '--tls-certificate-path',
    certificate,
    '--tls-key-path',
    key,
    ...more,
  ];
}

function serverFlags(...more: readonly string[]): readonly string[] {
  return flags(tlsFixture('server.crt'), tlsFixture('server.key'), ...more);
}

async function endOf(args: readonly string[]) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => void output.push(text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output: output.join('').replaceAll(tlsFixture(''), '') };
}

function presentedSerial(port: number): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const socket = dialTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      resolve(socket.getPeerX509Certificate()?.serialNumber);
      socket.destroy();
    });
  });
}

describe('a broker with TLS', () => {
  it.each<[string, number, readonly string[], string]>([
    [
      'a missing key [TLS-005]',
      1,
      flags(tlsFixture('server.crt'), tlsFixture('absent.key')),
      'truemq: cannot use absent.key for TLS: there is no such file (set by --tls-key-path)\n',
    ],
    [
      'a key of another certificate [TLS-006]',
      1,
      flags(tlsFixture('server.crt'), tlsFixture('client.key')),
      "truemq: cannot use server.crt for TLS: the key client.key does not belong to its first certificate, which must be the broker's own (set by --tls-certificate-path)\n",
    ],
    [
      'another password [TLS-007]',
      1,
      flags(
        tlsFixture('server.crt'),
        tlsFixture('server-encrypted.key'),
        ...['--tls-certificate-password', 'sesame'],
      ),
      'truemq: cannot use server-encrypted.key for TLS: the password of --tls-certificate-password does not open its key (set by --tls-key-path)\n',
    ],
    [
      'no certificate [TLS-013]',
      2,
      [...truemqProgram, 'serve', ...free, '--tls-enabled', 'true'],
      'truemq: tlsCertificatePath none (default) and tlsEnabled true (flag --tls-enabled) do not go together; allowed is a tlsCertificatePath with tlsEnabled true\ntruemq: "truemq help serve" tells what is allowed\n',
    ],
  ])('does not start with %s', async (_title, code, args, output) => {
    expect(await endOf(args)).toEqual({ code, output });
  });

  it('reads its certificates again on SIGHUP, for new connections, while open ones continue [TLS-008]', async () => {
    const [certificate, key] = [join(folder, 'broker.crt'), join(folder, 'broker.key')];
    const install = async (name: string) => {
      await copyFile(tlsFixture(`${name}.crt`), certificate);
      await copyFile(tlsFixture(`${name}.key`), key);
    };
    await install('server');
    const broker = await startProcess(flags(certificate, key));
    const client = await connect({ port: broker.port, reconnect: false, ...trust });
    const before = await presentedSerial(broker.port);
    await install('renewed');
    broker.signal('SIGHUP');
    await vi.waitFor(async () => expect(await presentedSerial(broker.port)).not.toBe(before), {
      timeout: 10_000,
    });
    await client.publish('hello', 1);
    await client.close();
    expect(await broker.stop()).toBe(0);
  });

  it('serves others while handshakes stall or fail, and ends these in time [TLS-011]', async () => {
    const broker = await startProcess(serverFlags('--handshake-timeout', '500ms'));
    const client = await connect({ port: broker.port, reconnect: false, ...trust });
    const bad = [
      Buffer.from('16030102000100', 'hex'),
      Buffer.from('GET / HTTP/1.1\r\n\r\n'),
      Buffer.alloc(0),
    ];
    const sockets = bad.map((bytes) => {
      const socket = dialTcp({ port: broker.port, host: '127.0.0.1' });
      socket.on('error', () => undefined).resume();
      socket.write(bytes);
      return socket;
    });
    const closed = Promise.all(sockets.map((socket) => once(socket, 'close')));
    await client.publish('hello', 1);
    await closed;
    await client.publish('hello', 2);
    await client.close();
    expect(await broker.stop()).toBe(0);
  });
});
