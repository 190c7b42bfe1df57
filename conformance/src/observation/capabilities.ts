// Which optional things a broker announces, seen from its handshakes and its metrics. `run` compares them with what the target
// declares; `probe` suggests them. What a broker cannot announce is not looked for here. Areas: COMPRESS, NACK, METRICS.
import type { Capability } from '../catalogue-words.ts';
import type { HttpSurface } from '../check.ts';
import { ExpectationFailure } from '../expectation.ts';
import { Command } from '../wire/command.ts';
import type { ReceivedFrame } from '../wire/frame.ts';
import type { ProbeClient } from './probe-client.ts';

const algorithms = ['brotli', 'gzip'] as const;

/** The capabilities that a ConnectAck tells: those of its header, and the algorithm that was agreed. */
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
 * The capabilities among those not yet known that the broker announces. One connection for all that a handshake tells, one more
 * where a second algorithm is not known; nothing that does not answer is held against anybody.
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

/** Whether the metrics come as Prometheus text when they are asked for so. */
export async function answersPrometheus(health: HttpSurface): Promise<boolean> {
  try {
    const answer = await health.get('/metrics/', { headers: { accept: 'text/plain' } });
    return answer.status === 200 && (answer.headers['content-type'] ?? '').startsWith('text/plain');
  } catch (error) {
    if (error instanceof ExpectationFailure) return false;
    throw error;
  }
}
