// The last events of a run, one readable line each, for people who examine a failing seed.

import { commandName } from '../../protocol/command.ts';
import type { Observation, SentCommand } from './history.ts';

const KEPT = 4000;

type Entry = { readonly at: number; readonly epoch: number; readonly observation: Observation };

export class Trace {
  #entries: Entry[] = [];

  add(at: number, epoch: number, observation: Observation): void {
    this.#entries.push({ at, epoch, observation });
    if (this.#entries.length >= 2 * KEPT) this.#entries = this.#entries.slice(-KEPT);
  }

  /** The last `most` events that say something. */
  lines(most: number): readonly string[] {
    return this.#entries
      .flatMap(({ at, epoch, observation }) => {
        const text = describe(observation);
        return text === undefined
          ? []
          : [`${String(at).padStart(6)} ms  #${String(epoch).padEnd(5)} ${text}`];
      })
      .slice(-most);
  }
}

/** `->` is to the broker, `<-` is from it. */
function describe(observation: Observation): string | undefined {
  switch (observation.kind) {
    case 'opened':
      return `${observation.connection}: opened`;
    case 'command':
      return `${observation.connection} -> ${describeCommand(observation.command)}`;
    case 'frame': {
      const { command, id, queue, headers, errorCode } = observation.message;
      const rest = [...headers].map(([name, value]) => `${name}=${value}`).join(' ');
      return `${observation.connection} <- ${[commandName(command), id, queue, errorCode, rest].join(' ').trimEnd()}`;
    }
    case 'clientGone':
      return `${observation.connection}: the client has disconnected`;
    case 'brokerEnded':
      return `${observation.connection}: ended`;
    case 'congestion':
      return `${observation.connection}: the broker ${observation.isCongested ? 'cannot' : 'can'} write on`;
    case 'batchStepped': {
      const { inFlightCount, discardedCount } = observation.figures;
      const waiting = [...observation.queues.values()].map(
        ({ name, messageCount }) => `${name}:${messageCount}`,
      );
      return `   batch: ${waiting.join(' ')}, in flight ${inFlightCount}, discarded ${discardedCount}`;
    }
    case 'purgeAsked':
      return `   the operator purges ${observation.queue}`;
    case 'purgeEnded':
      return `   ${observation.queue} is purged`;
    case 'lifeEnded':
      return `   ${observation.kind}: ${observation.how}`;
    case 'serving': {
      const waiting = [...observation.queues.values()].map(
        ({ name, messageCount }) => `${name}:${messageCount}`,
      );
      return `   serving: ${waiting.join(' ')}`;
    }
    case 'draining':
    case 'ended':
    case 'faultsStopped':
    case 'finished':
      return `   ${observation.kind}`;
    case 'taken':
    case 'batchBegan':
    case 'idle':
      return undefined;
  }
}

function describeCommand({
  command,
  id,
  queue,
  published,
  maxInFlight,
  failureReason,
  options,
  fault,
}: SentCommand): string {
  const parts = [
    commandName(command),
    id,
    queue,
    published && `number=${published.number} priority=${published.priority}`,
    maxInFlight && `maxInFlight=${maxInFlight}`,
    failureReason,
    options && JSON.stringify(options),
    fault && `broken ${fault}`,
  ];
  return parts.filter((part) => part !== undefined && part !== '').join(' ');
}
