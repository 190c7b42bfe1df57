// The messages of one check by their ids: what was published, how it was answered, and what of it was delivered. Answers only what is
// certain, also where the id was used several times, or a dead letter has the id of its message. Areas: PUBLISH, DELIVERY.
import { isSameJson, jsonForm } from '../json-value.ts';
import { frameText } from '../trace.ts';
import type { FrameFields, HeaderPairs, ReceivedFrame } from '../wire/frame.ts';
import { headerPairs } from '../wire/frame.ts';
import type { UntimedBreach } from './watched-breach.ts';

type Published = { readonly queue: string; readonly payload: string | Buffer; readonly headers: HeaderPairs };

type WatchedMessage = {
  readonly published: Published[];
  acceptedCount: number;
  refusedCount: number;
  delivered: ReceivedFrame | undefined;
};

/** After these a message may be stored all the same. */
const openCodes: ReadonlySet<string> = new Set(['STORAGE_ERROR', 'SERVER_ERROR']);

/** The headers that a broker writes into a delivery; it replaces those of the same name. */
const writtenByBroker: ReadonlySet<string> = new Set([
  'deliveryAttempts',
  'deadLetterReason',
  'deadLetterSource',
  'deadLetterAttempts',
  'deadLetteredAt',
]);

export class WatchedMessages {
  readonly #byId = new Map<string, WatchedMessage>();

  publish({ id, queue = '', payload = '', headers }: FrameFields): void {
    const known = this.#byId.get(id) ?? {
      published: [],
      acceptedCount: 0,
      refusedCount: 0,
      delivered: undefined,
    };
    known.published.push({ queue, payload, headers: headerPairs(headers) });
    this.#byId.set(id, known);
  }

  accept(id: string): void {
    const message = this.#byId.get(id);
    if (message !== undefined) message.acceptedCount += 1;
  }

  refuse({ id, errorCode }: ReceivedFrame): void {
    const message = this.#byId.get(id);
    if (message !== undefined && !openCodes.has(errorCode)) message.refusedCount += 1;
  }

  deliver(frame: ReceivedFrame): void {
    const message = this.#byId.get(frame.id);
    if (message !== undefined) message.delivered ??= frame;
  }

  /** The queue to which the id was published; undefined if there is none, or more than one. */
  onlyQueueOf(id: string): string | undefined {
    const queues = new Set(this.#byId.get(id)?.published.map(({ queue }) => queue));
    const [queue] = queues;
    return queues.size === 1 ? queue : undefined;
  }

  /** A delivery of an id of which every Publish was refused; undefined if there is none. */
  refusedYetDelivered(): ReceivedFrame | undefined {
    for (const { published, acceptedCount, refusedCount, delivered } of this.#byId.values())
      if (acceptedCount === 0 && refusedCount >= published.length && delivered !== undefined)
        return delivered;
    return undefined;
  }

  /**
   * What a delivery changed of every message that was published to its queue with its id; undefined if it may be one of them. What a dead letter
   * has of its message is only recommended.
   */
  differenceOf(frame: ReceivedFrame): UntimedBreach | undefined {
    const published = this.#byId.get(frame.id)?.published ?? [];
    const candidates = published.filter(({ queue }) => queue === frame.queue);
    const [first] = candidates;
    if (first === undefined) return undefined;
    const samePayload = candidates.filter((one) => mayBePayload(frame, one));
    const actual = frameText(frame);
    if (samePayload.length === 0)
      return {
        clause: 'DELIVERY-053',
        what: 'a delivered payload is the JSON value that was published',
        expected: String(first.payload),
        actual,
      };
    const lost = samePayload.map((one) => lostHeader(frame, one));
    const [header] = lost;
    if (header === undefined || lost.includes(undefined)) return undefined;
    const expected = `header ${header[0]} with value "${header[1]}"`;
    return { clause: 'DELIVERY-052', what: 'the headers of a message are delivered', expected, actual };
  }
}

/** A payload that is no JSON text has no value that the delivery could change. */
function mayBePayload(frame: ReceivedFrame, { payload }: Published): boolean {
  if (isSameBytes(frame.payload, payload)) return true;
  return payload.length === 0 || jsonForm(payload) === undefined || isSameJson(frame.payload, payload);
}

function isSameBytes(one: Buffer, other: string | Buffer): boolean {
  return one.equals(typeof other === 'string' ? Buffer.from(other) : other);
}

/** A header that the delivery lacks, or has with another value. The last one of a name counts; the broker may drop empty ones. */
function lostHeader(frame: ReceivedFrame, { headers }: Published): HeaderPairs[number] | undefined {
  const last = new Map(headers);
  return [...last].find(
    ([name, value]) =>
      name !== '' && value !== '' && !writtenByBroker.has(name) && frame.header(name) !== value,
  );
}
