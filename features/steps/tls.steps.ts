// Steps about TLS and certificates.

import assert from 'node:assert/strict';
import { After, type DataTable, Given, Then, When } from '@cucumber/cucumber';
import * as tls from '../support/tls.ts';
import type { FeatureWorld } from '../support/world.ts';

const replaceable = new WeakMap<FeatureWorld, tls.ReplaceableCertificate>();
const refusals = new WeakMap<FeatureWorld, string>();

Given('a broker with a certificate', function (this: FeatureWorld) {
  tls.useServerCertificate(this);
});

Given(
  'a broker with the PKCS#12 file {string} and its password',
  function (this: FeatureWorld, name: string) {
    tls.usePkcs12(this, name);
  },
);

Given('a broker with a certificate that can be replaced', function (this: FeatureWorld) {
  const certificate = new tls.ReplaceableCertificate('server');
  replaceable.set(this, certificate);
  tls.useCertificate(this, certificate.certificatePath, certificate.keyPath);
});

After(function (this: FeatureWorld) {
  replaceable.get(this)?.remove();
});

Given(
  '{client} is connected over TLS {float}',
  async function (this: FeatureWorld, label: string, version: number) {
    await tls.connectOver(this, label, version.toFixed(1));
  },
);

When('{client} sends the beginning of a TLS handshake', async function (this: FeatureWorld, label: string) {
  await tls.beginHandshake(this, label);
});

When(
  'the certificate is replaced by {string} and the broker receives SIGHUP',
  async function (this: FeatureWorld, name: string) {
    const broker = await this.broker();
    replaceable.get(this)?.replaceBy(name);
    broker.hangUp();
  },
);

When('a broker is started with these settings:', async function (this: FeatureWorld, table: DataTable) {
  refusals.set(this, await tls.refusalToStart(table.raw()));
});

Then('it does not start, because {string}', function (this: FeatureWorld, reason: string) {
  const said = refusals.get(this) ?? '';
  assert.ok(said.includes(reason), said);
});

Then(
  'the broker refuses a client that offers at most TLS {float}',
  async function (this: FeatureWorld, version: number) {
    await tls.assertVersionRefused(this, version.toFixed(1));
  },
);

Then(
  'a client with plain TCP receives no answer to its Connect, and the broker closes its connection',
  async function (this: FeatureWorld) {
    await tls.assertPlainNotServed(this);
  },
);

Then('new connections get the certificate {string}', async function (this: FeatureWorld, name: string) {
  await tls.assertPresented(this, name);
});

Then(
  'the log says that a certificate was not reloaded, because {string}',
  async function (this: FeatureWorld, reason: string) {
    await tls.assertLogged(this, 'certificates not reloaded', reason);
  },
);
