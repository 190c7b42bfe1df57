// Finds the optional capabilities that a broker announces in its handshakes and metrics. `run` compares them with the target file; `probe`
// suggests them. Capabilities that a broker cannot announce are not searched here. Areas: COMPRESS, NACK, METRICS.
import type { Capability } from '../catalogue-words.ts';
import type { HttpSurface } from '../check.ts';
import { ExpectationFailure } from '../expectation.ts';
import { Command } from '../wire/command.ts';
import type { ReceivedFrame } from '../wire/frame.ts';
import type { ProbeClient } from './probe-client.ts';

const algorithms = ['brotli', 'gzip'] as const;

/** The capabilities in a ConnectAck: those in its header, and the agreed compression algorithm. */
export function announcedBy(connectAck: ReceivedFrame): ReadonlySet<Capability> {
  const listed = (connectAck.header('capabilities') ?? '').split(',').map((name) => name.trim());
  const negotiated = connectAck.header('negotiated-compression') ?? '';
  const known: readonly Capability[] = ['nack', 'maxInFlight'];
  return new Set([
    ...known.filter((name) => listed.includes(name)),
    ...algorithms.filter((name) => name === negotiated.toLowerCase()),
  ]);
}

/**
 * The announced capabilities that are not in `known`. Uses one connection for all that a handshake shows, and one more if a second
 * algorithm is not known. A missing answer is no fault here.
 */
export async function observeCapabilities(
  client: ProbeClient,
  known: ReadonlySet<Capability>,
): Promise<ReadonlySet<Capability>> {
  const seen = new Set<Capability>();
  let offered: readonly string[] = algorithms.filter((name) => !known.has(name));
  do {
    const answer = await connectWith(client, offered);
    if (answer?.command !== Command.ConnectAck) break;
    for (const name of announcedBy(answer)) seen.add(name);
    const rest = offered.filter((name) => !seen.has(name as Capability));
    if (rest.length === offered.length) break;
    offered = rest;
  } while (offered.length > 0);
  return new Set([...seen].filter((name) => !known.has(name)));
}

async function connectWith(
  client: ProbeClient,
  offered: readonly string[],
): Promise<ReceivedFrame | undefined> {
  try {
    const headers = offered.length === 0 ? {} : { 'supported-compression': offered.join(',') };
    return await client.sendConnect(await client.open(), { headers });
  } catch (error) {
    if (error instanceof ExpectationFailure) return undefined;
    throw error;
  }
}

/** Whether the broker returns its metrics as Prometheus text on request. */
export async function answersPrometheus(health: HttpSurface): Promise<boolean> {
  try {
    const answer = await health.get('/metrics/', { headers: { accept: 'text/plain' } });
    return answer.status === 200 && (answer.headers['content-type'] ?? '').startsWith('text/plain');
  } catch (error) {
    if (error instanceof ExpectationFailure) return false;
    throw error;
  }
}
