// The live part of the dashboard: one sampler, and the streams that tell what it sees. Has a limit of streams, and ends them before the server that
// they belong to, which would otherwise wait for them.

import type { BasicAccess } from '../../../auth/basic-access.ts';
import { problemResponse } from '../../problem.ts';
import type { QueueChanges } from './live-queues.ts';
import { LiveSampler, type LiveSamplerOptions } from './live-sampler.ts';
import { LiveStream } from './live-stream.ts';

/** Streams at a time. */
const MAX_STREAMS = 20;

export type LiveFeedOptions = LiveSamplerOptions & {
  readonly serverVersion: string;
  /** Present: the dashboard asks for credentials, which every stream says. */
  readonly access?: Pick<BasicAccess, 'judge'> | undefined;
};

export class LiveFeed {
  readonly #options: LiveFeedOptions;
  readonly #sampler: LiveSampler;
  readonly #streams = new Set<LiveStream>();
  #isClosed = false;

  /** Samples from now on, until it is closed. */
  constructor(options: LiveFeedOptions) {
    this.#options = options;
    this.#sampler = new LiveSampler(options);
    this.#sampler.start((changes) => {
      for (const stream of this.#streams) this.#tell(stream, changes);
    });
  }

  /** A stream of events that watches this queue; 503 when there are too many streams. */
  open(watched: string | undefined): Response {
    if (this.#isClosed) return unavailable('The broker is shutting down.');
    if (this.#streams.size >= MAX_STREAMS)
      return unavailable(
        `The dashboard has ${MAX_STREAMS} live streams already; close a page of it elsewhere.`,
      );
    const stream = this.#createStream(watched);
    this.#streams.add(stream);
    return new Response(stream.body, { headers: eventStreamHeaders });
  }

  /** Ends all streams and the sampler. */
  close(): void {
    this.#isClosed = true;
    this.#sampler.close();
    for (const stream of this.#streams) stream.end();
    this.#streams.clear();
  }

  /** A fault of one stream ends it, and no other. */
  #tell(stream: LiveStream, changes: QueueChanges): void {
    try {
      stream.sampled(changes);
    } catch (error) {
      this.#options.onFault(error);
      this.#streams.delete(stream);
      stream.end();
    }
  }

  #createStream(watched: string | undefined): LiveStream {
    const { view, clock, serverVersion, access } = this.#options;
    const stream: LiveStream = new LiveStream({
      sampler: this.#sampler,
      view,
      wallNow: clock.wallNow,
      serverVersion,
      asksForCredentials: access !== undefined,
      watched,
      onCancel: () => void this.#streams.delete(stream),
    });
    return stream;
  }
}

/** What a stream begins with. Without `connection: close` its connection would stay open when the broker ends it. */
export const eventStreamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  connection: 'close',
} as const;

function unavailable(detail: string): Response {
  return problemResponse({ status: 503, title: 'Service Unavailable', detail });
}
