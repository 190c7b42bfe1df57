// Checks of connections with TLS. The brokers get a certificate of the suite (fixtures/tls), and the runner trusts its CA only. Area: TLS.
import type { Check, CheckContext, CheckModule, TlsVersion } from '../check.ts';
import type { TlsSettings } from '../configuration.ts';
import type { Connection } from '../connection.ts';
import { Command } from '../wire/command.ts';
import { fittingLength, textOfLength } from './shared/bodies.ts';
import { expectLastCommands } from './shared/last-commands.ts';
import { noteIfLate } from './shared/lateness.ts';
import { eventually, messageCountOf, newQueue } from './shared/queue-state.ts';

const certificate: TlsSettings = { certificatePath: 'server.crt', keyPath: 'server.key' };

const withTls = { profile: 'tls', requires: { configuration: { tls: certificate } } } as const;

/** Certificates that no broker can use; the files are those of fixtures/tls, and missing.crt is not among them. */
const refusedCertificates = {
  missing: { certificatePath: 'missing.crt', keyPath: 'server.key' },
  'without a key file': { certificatePath: 'server.crt', keyPath: 'missing.key' },
  'no certificate': { certificatePath: 'server.key', keyPath: 'server.key' },
  'key of another certificate': { certificatePath: 'server.crt', keyPath: 'renewed.key' },
  'another password': { certificatePath: 'server.pfx', certificatePassword: 'not its password' },
} as const satisfies Readonly<Record<string, TlsSettings>>;

const handshakeTimeoutMs = 1000;

export const tlsChecks: CheckModule = [
  // TLS-001 (MUST): When TLS is configured, the broker serves the same protocol to clients that connect with TLS.
  {
    id: 'TLS-001a',
    title: 'serves a client that connects with TLS: queues, publishes, deliveries and acks',
    clauses: ['TLS-001'],
    ...withTls,
    evidence: { frames: 6, messages: 1, assertions: 2 },
    run: async (ctx) => {
      const client = await served(ctx);
      const queue = await newQueue(ctx, client, 'orders');
      await client.subscribe(queue);
      await client.publish(queue, '{"over":"TLS"}');
      const delivered = await client.delivery({ queue });
      ctx.assert.sameJson(delivered.payload, '{"over":"TLS"}', 'the delivered payload', 'DELIVERY-053');
      await client.ack(delivered);
      await client.ping({ clause: 'TLS-001' });
    },
  },
  // TLS-001 (MUST): When TLS is configured, the broker serves the same protocol to clients that connect with TLS.
  {
    id: 'TLS-001b',
    title: 'carries large frames over TLS in both directions',
    clauses: ['TLS-001'],
    ...withTls,
    evidence: { frames: 5, messages: 1, assertions: 1 },
    run: async (ctx) => {
      const client = await served(ctx);
      const queue = await newQueue(ctx, client, 'large');
      // Many TLS records, and several segments of each.
      const payload = JSON.stringify(textOfLength(fittingLength(ctx.target, 300_000)));
      await client.publish(queue, payload);
      await client.subscribe(queue);
      const delivered = await client.delivery({ queue });
      ctx.assert.sameJson(delivered.payload, payload, 'the delivered payload', 'TLS-001');
    },
  },
  // TLS-001 (MUST): When TLS is configured, the broker serves the same protocol to clients that connect with TLS.
  {
    id: 'TLS-001c',
    title: 'serves a client that sends 8 MB over TLS at once',
    clauses: ['TLS-001'],
    ...withTls,
    evidence: { frames: 80, assertions: 1 },
    run: async (ctx) => {
      const client = await served(ctx);
      const queue = await newQueue(ctx, client, 'much');
      const payload = JSON.stringify(textOfLength(fittingLength(ctx.target, 100_000)));
      const ids = Array.from({ length: 80 }, () => ctx.id('m'));
      await client.sendTogether(ids.map((id) => ({ command: Command.Publish, id, queue, payload })));
      for (const id of ids) await client.expect({ command: 'PublishAck', id });
      ctx.assert.equal(await messageCountOf(client, queue), ids.length, 'number of messages');
    },
  },
  // CONN-041 (SHOULD): When a client ends its side of the connection without a Disconnect, the broker carries out the
  // commands that it sent before, except publishes that are still blocked (OVERFLOW-018), sends their answers and
  // closes the connection.
  {
    id: 'CONN-041b',
    title: 'carries out and answers what a client sent over TLS before it ended its side of the connection',
    clauses: ['CONN-041'],
    ...withTls,
    evidence: { frames: 8, assertions: 6 },
    run: async (ctx) => {
      const witness = await served(ctx);
      await expectLastCommands(ctx, await served(ctx), witness);
    },
  },
  // TLS-002 (SHOULD): The broker supports TLS 1.2 and TLS 1.3.
  {
    id: 'TLS-002a',
    title: 'accepts TLS 1.2 and TLS 1.3',
    clauses: ['TLS-002'],
    ...withTls,
    evidence: { frames: 2, assertions: 2 },
    run: async (ctx) => {
      await served(ctx);
      for (const version of ['TLSv1.2', 'TLSv1.3'] as const)
        ctx.assert.equal(
          await isServedWith(ctx, version),
          true,
          `a client that offers only ${version} is served`,
        );
    },
  },
  // TLS-003 (SHOULD): The broker refuses TLS versions before 1.2.
  {
    id: 'TLS-003a',
    title: 'refuses a client that offers TLS 1.1 only',
    clauses: ['TLS-003'],
    ...withTls,
    evidence: { frames: 1, assertions: 1 },
    run: async (ctx) => {
      await served(ctx);
      ctx.assert.equal(
        await isServedWith(ctx, 'TLSv1.1'),
        false,
        'a client that offers only TLSv1.1 is served',
      );
    },
  },
  // TLS-004 (MUST): When TLS is configured, the broker does not serve a client that connects with plain TCP.
  {
    id: 'TLS-004a',
    title: 'sends no frame to a client that connects without TLS',
    clauses: ['TLS-004'],
    ...withTls,
    evidence: { frames: 1, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.tryConnect();
      await client?.ping({ clause: 'TLS-001' });
      const plain = await ctx.rawConnect({ plain: true });
      await plain.sendTogether([
        { command: Command.Ping, id: ctx.id('ping') },
        { command: Command.Connect, id: ctx.id() },
        { command: Command.CreateQueue, id: ctx.id(), queue: ctx.queue('plain') },
      ]);
      await plain.expectSilence(
        () => true,
        ctx.timing.silenceMs,
        'a client without TLS gets no frame',
        'TLS-004',
      );
      // Nothing is shown by a broker that serves nobody.
      if (client === undefined) ctx.notShown('the broker accepts no connection with TLS either');
    },
  },
  // TLS-011 (SHOULD): The broker closes a connection whose TLS handshake fails or does not end within handshakeTimeout,
  // and does not delay or change the answers on other connections.
  {
    id: 'TLS-011a',
    title: 'closes a connection whose TLS handshake fails, and serves the others meanwhile',
    clauses: ['TLS-011'],
    ...withTls,
    evidence: { frames: 3, assertions: 2 },
    run: async (ctx) => {
      const client = await served(ctx);
      const broken = await ctx.rawConnect({ plain: true });
      await broken.sendRaw(Buffer.from('GET / HTTP/1.1\r\n\r\n'));
      await client.ping({ clause: 'TLS-011' });
      await broken.closed({ clause: 'TLS-011' });
      await client.ping({ clause: 'TLS-011' });
    },
  },
  // TLS-011 (SHOULD): The broker closes a connection whose TLS handshake fails or does not end within handshakeTimeout,
  // and does not delay or change the answers on other connections.
  {
    id: 'TLS-011b',
    title:
      'closes a connection without a TLS handshake at the handshake timeout, and serves the others meanwhile',
    clauses: ['TLS-011'],
    profile: 'tls',
    requires: { configuration: { tls: certificate, timing: { handshakeTimeoutMs } } },
    waits: true,
    evidence: { frames: 3, assertions: 3 },
    run: async (ctx) => {
      const connectedFrom = ctx.now();
      const client = await served(ctx).finally(() =>
        noteIfLate(ctx, { sinceMs: connectedFrom, maxMs: handshakeTimeoutMs, step: 'the Connect' }),
      );
      const startedAt = ctx.now();
      const silent = await ctx.rawConnect({ plain: true });
      const half = await ctx.rawConnect({ plain: true });
      // The head of a record with a ClientHello, whose content does not come.
      await half.sendRaw(Buffer.from([22, 3, 1, 1, 0, 1, 0, 0, 252, 3, 3]));
      await client.ping({ clause: 'TLS-011' });
      for (const connection of [silent, half])
        await connection.closed({ clause: 'TLS-011', withinMs: handshakeTimeoutMs + ctx.timing.closeMs });
      const lastedMs = ctx.now() - startedAt;
      ctx.assert.ok(
        lastedMs >= handshakeTimeoutMs - ctx.timing.earlyMs,
        'the connections are not closed early',
        {
          expected: `open for ${handshakeTimeoutMs} ms`,
          actual: `closed after ${Math.round(lastedMs)} ms`,
          clause: 'CONN-014',
        },
      );
      await client.ping({ clause: 'TLS-011' });
    },
  },
  // CONN-014 (SHOULD): The broker closes a connection on which no Connect has arrived within handshakeTimeout after it
  // was opened.
  {
    id: 'CONN-014c',
    title:
      'closes a connection with TLS on which no Connect arrives at the handshake timeout, and not earlier',
    clauses: ['CONN-014', 'TLS-001'],
    profile: 'tls',
    requires: { configuration: { tls: certificate, timing: { handshakeTimeoutMs } } },
    waits: true,
    evidence: { frames: 1, assertions: 1 },
    run: async (ctx) => {
      const startedAt = ctx.now();
      const silent = await ctx.rawConnect();
      await silent.closed({ withinMs: handshakeTimeoutMs + ctx.timing.closeMs });
      const lastedMs = ctx.now() - startedAt;
      const text = 'time for which the connection is open';
      ctx.assert.betweenMs(lastedMs, handshakeTimeoutMs - ctx.timing.earlyMs, Number.POSITIVE_INFINITY, text);
      await served(ctx);
    },
  },
  // TLS-005 (SHOULD): The broker refuses to start with a certificate or key that is missing or unreadable, and names
  // the file and the reason.
  {
    id: 'TLS-005a',
    title: 'refuses to start with a certificate or key that is missing or unreadable, and names the file',
    clauses: ['TLS-005'],
    ...withTls,
    isolation: 'restart',
    evidence: { assertions: 6 },
    run: async (ctx) => {
      await expectStartRefused(ctx, 'missing', ['missing.crt']);
      await expectStartRefused(ctx, 'without a key file', ['missing.key']);
      await expectStartRefused(ctx, 'no certificate', ['server.key']);
    },
  },
  // TLS-006 (SHOULD): The broker refuses to start with a certificate and a key that do not belong together, and names
  // the file and the reason.
  {
    id: 'TLS-006a',
    title: 'refuses to start with the key of another certificate, and names a file',
    clauses: ['TLS-006'],
    ...withTls,
    isolation: 'restart',
    evidence: { assertions: 2 },
    run: (ctx) => expectStartRefused(ctx, 'key of another certificate', ['server.crt', 'renewed.key']),
  },
  // TLS-007 (SHOULD): The broker refuses to start with a certificate or key that needs another password, and names the
  // file and the reason.
  {
    id: 'TLS-007a',
    title: 'refuses to start with a certificate that needs another password, and names the file',
    clauses: ['TLS-007'],
    ...withTls,
    isolation: 'restart',
    evidence: { assertions: 2 },
    run: (ctx) => expectStartRefused(ctx, 'another password', ['server.pfx']),
  },
  // TLS-008 (SHOULD): On SIGHUP the broker reads its certificates again and uses them for new connections; open
  // connections continue.
  {
    id: 'TLS-008a',
    title: 'shows a renewed certificate to new connections after SIGHUP, and keeps the open ones',
    clauses: ['TLS-008'],
    ...withTls,
    isolation: 'restart',
    evidence: { frames: 3, assertions: 2 },
    run: async (ctx) => {
      const open = await served(ctx);
      await expectRenewed(ctx, open, 'renewed');
      await open.ping({ clause: 'TLS-008' });
    },
  },
  // TLS-008 (SHOULD): On SIGHUP the broker reads its certificates again and uses them for new connections; open
  // connections continue.
  {
    id: 'TLS-008b',
    title:
      'renews its certificate again and again, also to the one of the start, and serves the same versions of TLS',
    clauses: ['TLS-008', 'TLS-002'],
    ...withTls,
    isolation: 'restart',
    evidence: { frames: 8, assertions: 4 },
    run: async (ctx) => {
      const open = [await served(ctx)];
      const versions: TlsVersion[] = [];
      for (const version of ['TLSv1.2', 'TLSv1.3'] as const)
        if (await isServedWith(ctx, version)) versions.push(version);
      for (const name of ['renewed', 'wrong-host', 'server'])
        open.push(await expectRenewed(ctx, open.at(-1) as Connection, name));
      for (const version of versions)
        ctx.assert.ok(await isServedWith(ctx, version), `a client with ${version} is served after renewals`, {
          actual: 'it was served before only',
        });
      for (const connection of open) await connection.ping({ clause: 'TLS-008' });
    },
  },
  // TLS-008 (SHOULD): On SIGHUP the broker reads its certificates again and uses them for new connections; open
  // connections continue.
  {
    id: 'TLS-008c',
    title:
      'keeps open connections and serves new ones after SIGHUP with a key that does not fit the certificate',
    clauses: ['TLS-008'],
    ...withTls,
    isolation: 'restart',
    evidence: { frames: 4, assertions: 3 },
    run: async (ctx) => {
      const open = await served(ctx);
      await ctx.broker.renewCertificate({ certificatePath: 'wrong-host.crt', keyPath: 'renewed.key' });
      await open.ping({ clause: 'TLS-008' });
      await expectRenewed(ctx, open, 'renewed');
      await open.ping({ clause: 'TLS-008' });
    },
  },
] satisfies readonly Check[];

/** Renews the certificate, and returns the first connection that is shown another one than `before`. */
async function expectRenewed(ctx: CheckContext, before: Connection, name: string): Promise<Connection> {
  await ctx.broker.renewCertificate({ certificatePath: `${name}.crt`, keyPath: `${name}.key` });
  // A signal that it does not handle ends the broker.
  const what = { text: 'a new connection gets another certificate after SIGHUP', clause: 'TLS-008' };
  let latest = before;
  const look = async (): Promise<string | undefined> => {
    latest = await served(ctx, 'TLS-008');
    return latest.peerCertificate;
  };
  await eventually(ctx, look, (shown) => shown !== before.peerCertificate, what);
  return latest;
}

/** A client that connects with TLS. `clause`: what a broker breaks that does not accept it. */
async function served(ctx: CheckContext, clause = 'TLS-001'): Promise<Connection> {
  const client = await ctx.tryConnect();
  if (client === undefined)
    return ctx.assert.fail('the broker accepts a connection with TLS', {
      expected: 'a TLS connection',
      actual: 'none',
      clause,
    });
  await client.send({ command: Command.Connect, id: ctx.id() });
  await client.expect('ConnectAck', { clause });
  return client;
}

async function isServedWith(ctx: CheckContext, tlsVersion: TlsVersion): Promise<boolean> {
  const client = await ctx.tryConnect({ tlsVersion });
  if (client === undefined) return false;
  await client.send({ command: Command.Connect, id: ctx.id() });
  const answer = await client.expectOrClosed('ConnectAck');
  return typeof answer !== 'string';
}

/** Asserts that a broker does not start with this certificate, and that its message names one of the files. */
async function expectStartRefused(
  ctx: CheckContext,
  which: keyof typeof refusedCertificates,
  files: readonly string[],
): Promise<void> {
  const refusal = await ctx.broker.otherRefusal({ tls: refusedCertificates[which] });
  const what = `the broker refuses to start with its certificate: ${which}`;
  ctx.assert.ok(refusal !== undefined, what, { expected: 'a refusal', actual: 'it started' });
  const isNamed = files.some((file) => refusal?.includes(file) === true);
  const expected = `a message with ${files.join(' or ')}`;
  ctx.assert.ok(isNamed, `its message names the file: ${which}`, { expected, actual: refusal });
}
