// TLS as the scenarios use it: the certificates of fixtures/tls, connections of any version, and brokers that do not start. Only over TCP.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect as dialTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as dialTls, type SecureVersion, type TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import type { ConfigurationKey } from '../../src/config/keys.ts';
import { Command } from '../../src/protocol/command.ts';
import { encodeFrame } from '../../src/protocol/encode.ts';
import { BrokerProcess } from './drivers/broker-process.ts';
import { applySettings } from './settings.ts';
import { type FeatureWorld, ofCommand } from './world.ts';

const PATIENCE_MS = 5_000;
const PASSWORD_OF_FILES = 'not-a-secret';
const SECURE_VERSIONS: Readonly<Record<string, SecureVersion>> = {
  '1.0': 'TLSv1',
  '1.1': 'TLSv1.1',
  '1.2': 'TLSv1.2',
  '1.3': 'TLSv1.3',
};

function fixture(name: string): string {
  return fileURLToPath(new URL(`../../fixtures/tls/${name}`, import.meta.url));
}

export function useCertificate(world: FeatureWorld, certificate: string, key: string): void {
  applySettings(world.settings, [
    ['tlsCertificatePath', certificate],
    ['tlsKeyPath', key],
  ]);
}

export function useServerCertificate(world: FeatureWorld): void {
  useCertificate(world, fixture('server.crt'), fixture('server.key'));
}

export function usePkcs12(world: FeatureWorld, name: string): void {
  applySettings(world.settings, [
    ['tlsCertificatePath', fixture(name)],
    ['tlsCertificatePassword', PASSWORD_OF_FILES],
  ]);
}

/** A certificate in a folder of the scenario. */
export class ReplaceableCertificate {
  readonly #folder = mkdtempSync(join(tmpdir(), 'truemq-tls-'));
  readonly certificatePath = join(this.#folder, 'broker.crt');
  readonly keyPath = join(this.#folder, 'broker.key');

  constructor(name: string) {
    this.replaceBy(name);
  }

  replaceBy(name: string): void {
    copyFileSync(fixture(`${name}.crt`), this.certificatePath);
    copyFileSync(fixture(`${name}.key`), this.keyPath);
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true });
  }
}

/** A client after its TLS handshake, which has checked the broker's certificate, and after its Connect. */
export async function connectOver(world: FeatureWorld, label: string, version: string): Promise<void> {
  const socket = await dial(world, version);
  await once(socket, 'secureConnect', { signal: AbortSignal.timeout(PATIENCE_MS) });
  const client = await world.open(label, async () => socket);
  client.send({ command: Command.Connect, id: world.freshId('connect') });
  await world.receive(label, ofCommand(Command.ConnectAck), 'a ConnectAck');
}

async function dial(world: FeatureWorld, version: string): Promise<TLSSocket> {
  const maxVersion = SECURE_VERSIONS[version] ?? assert.fail(`there is no TLS ${version}`);
  const isOld = maxVersion < 'TLSv1.2';
  return dialTls({
    ...(await addressOf(world)),
    ca: readFileSync(fixture('ca.crt')),
    minVersion: isOld ? 'TLSv1' : maxVersion,
    maxVersion,
    // Without this, the client itself would refuse to offer an old version.
    ...(isOld && { ciphers: 'DEFAULT@SECLEVEL=0' }),
  });
}

async function addressOf(world: FeatureWorld): Promise<{ readonly host: string; readonly port: number }> {
  return (
    (await world.broker()).address ?? assert.fail('this broker listens nowhere: the feature is @over-tcp')
  );
}

export async function assertVersionRefused(world: FeatureWorld, version: string): Promise<void> {
  const socket = await dial(world, version);
  const [error] = await once(socket, 'error', { signal: AbortSignal.timeout(PATIENCE_MS) });
  assert.match(String(error), /alert protocol version/);
}

export async function assertPlainNotServed(world: FeatureWorld): Promise<void> {
  const socket = dialTcp(await addressOf(world));
  const received: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => received.push(chunk));
  socket.on('error', () => undefined);
  socket.write(encodeFrame({ command: Command.Connect, id: 'hello' }));
  await once(socket, 'close', { signal: AbortSignal.timeout(PATIENCE_MS) });
  // At most an alert of TLS, which is shorter than any frame with a ConnectAck.
  assert.ok(Buffer.concat(received).length <= 7, `received ${Buffer.concat(received).toString('hex')}`);
}

/** A record of 512 bytes, of which most are missing. */
export async function beginHandshake(world: FeatureWorld, label: string): Promise<void> {
  const client = await world.open(label);
  client.sendBytes(Buffer.from('16030102000100', 'hex'), { isPartial: true });
}

export async function assertPresented(world: FeatureWorld, name: string): Promise<void> {
  const expected = readFileSync(fixture(`${name}.crt`), 'utf8').replace(/\s/g, '');
  const deadline = Date.now() + PATIENCE_MS;
  let presented = '';
  while (!expected.startsWith(presented) || presented === '') {
    assert.ok(Date.now() < deadline, `the broker presents another certificate than ${name}`);
    presented = (await presentedCertificate(world)).replace(/\s/g, '');
  }
}

async function presentedCertificate(world: FeatureWorld): Promise<string> {
  const socket = await dial(world, '1.3');
  await once(socket, 'secureConnect', { signal: AbortSignal.timeout(PATIENCE_MS) });
  const certificate = socket.getPeerX509Certificate();
  socket.destroy();
  return certificate?.toString() ?? '';
}

export async function assertLogged(world: FeatureWorld, ...texts: readonly string[]): Promise<void> {
  const broker = await world.broker();
  const found = await broker.until(() => texts.every((text) => broker.log().includes(text)) || undefined);
  assert.ok(found, `the log does not say ${texts.join(', ')}\n${broker.log()}`);
}

/** What a broker says that does not start; files are those of fixtures/tls, and empty settings are left out. */
export async function refusalToStart(rows: readonly (readonly string[])[]): Promise<string> {
  const settings = rows
    .filter(([, text]) => text !== '')
    .map(([key = '', text = '']): [string, string] => [key, key.endsWith('Path') ? fixture(text) : text]);
  const given = new Map<ConfigurationKey, string>();
  applySettings(given, settings);
  const error: unknown = await BrokerProcess.start([...given]).then(
    (broker) => broker.kill(),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof Error, 'the broker started');
  return error.message.replaceAll(fixture(''), '');
}
