// Observes the handshake of a broker: whether it speaks the protocol, what its ConnectAck contains, whether it needs credentials, which
// versions and compression algorithms it accepts. Areas: CONN, COMPRESS, AUTH.
import { frameText } from '../trace.ts';
import { Command } from '../wire/command.ts';
import type { ReceivedFrame } from '../wire/frame.ts';
import { announcedBy, observeCapabilities } from './capabilities.ts';
import type { Fact, Observation, Observer } from './observation.ts';

/** Ping before Connect, then Connect as an existing client sends it. */
export const observeHandshake: Observer = async (client) => {
  const connection = await client.open();
  const pong = await connection.ping().then(
    () => 'answers Ping before Connect',
    () => 'does not answer Ping before Connect',
  );
  const facts: Fact[] = [{ topic: 'ping', text: pong }];
  const fresh = connection.isClosed ? await client.open() : connection;
  const answer = await client.sendConnect(fresh, { headers: { 'supported-compression': 'brotli,gzip' } });
  return answer.command === Command.ConnectAck ? acceptedFacts(answer, facts) : refusedFacts(answer, facts);
};

function acceptedFacts(answer: ReceivedFrame, facts: readonly Fact[]): Partial<Observation> {
  const identity = answer.header('serverVersion');
  return {
    speaks: true,
    capabilities: [...announcedBy(answer)],
    facts: [
      ...facts,
      { topic: 'handshake', text: `accepts Connect: ${frameText(answer)}` },
      { topic: 'credentials', text: 'needs none, or accepts the given ones' },
    ],
    ...(identity === undefined ? {} : { identity }),
  };
}

function refusedFacts(answer: ReceivedFrame, facts: readonly Fact[]): Partial<Observation> {
  const demandsCredentials = /AUTH/i.test(answer.errorCode);
  const told = demandsCredentials
    ? 'needs other credentials: try --token, or --username and --password'
    : 'refuses the handshake';
  return {
    demandsCredentials,
    facts: [...facts, { topic: 'handshake', text: `${told}: ${frameText(answer)}` }],
  };
}

/** Tries the algorithms that the first handshake did not agree on. */
export const observeAlgorithms: Observer = async (client) => {
  const capabilities = [...(await observeCapabilities(client, new Set()))];
  const agreed = capabilities.filter((name) => name === 'brotli' || name === 'gzip');
  const announced = capabilities.filter((name) => name !== 'brotli' && name !== 'gzip');
  return {
    capabilities,
    facts: [
      {
        topic: 'compression',
        text: agreed.length === 0 ? 'accepts no compression algorithm' : `agrees on ${agreed.join(' and ')}`,
      },
      {
        topic: 'capabilities',
        text: announced.length === 0 ? 'announces none' : `announces ${announced.join(', ')}`,
      },
    ],
  };
};

export const observeVersions: Observer = async (client) => {
  const connection = await client.open();
  const answer = await client.sendConnect(connection, { version: 2 }).catch(() => undefined);
  return { facts: [{ topic: 'version', text: versionText(answer, connection.isClosed) }] };
};

function versionText(answer: ReceivedFrame | undefined, isClosed: boolean): string {
  if (answer?.command === Command.ConnectAck)
    return 'speaks version 1, and accepts a Connect of version 2 too';
  if (answer !== undefined)
    return `speaks version 1; version 2 gets ${answer.errorCode || answer.commandName}`;
  return `speaks version 1; version 2 gets ${isClosed ? 'the connection closed' : 'no answer'}`;
}
