// The live part of the dashboard: one sampler, and the streams that tell what it sees. Has a limit of streams, ends each when its user loses access,
// and all before the server that they belong to, which would otherwise wait for them.

import type { BasicAccess } from '../../../auth/basic-access.ts';
import { problemResponse } from '../../problem.ts';
import type { TcpAddress } from './live-events.ts';
import type { QueueChanges } from './live-queues.ts';
import { LiveSampler, type LiveSamplerOptions } from './live-sampler.ts';
import { LiveStream } from './live-stream.ts';

/** Streams at a time. */
const MAX_STREAMS = 20;

export type LiveFeedOptions = LiveSamplerOptions & {
  readonly serverVersion: string;
  /** Where clients connect; undefined while they cannot. */
  readonly tcp: () => TcpAddress | undefined;
  /** Present: the dashboard asks for credentials, which every stream says. */
  readonly access?: Pick<BasicAccess, 'watch'> | undefined;
};

export class LiveFeed {
  readonly #options: LiveFeedOptions;
  readonly #sampler: LiveSampler;
  /** With what is to be called when the stream has ended. */
  readonly #streams = new Map<LiveStream, () => void>();
  #isClosed = false;

  /** Samples from now on, until it is closed. */
  constructor(options: LiveFeedOptions) {
    this.#options = options;
    this.#sampler = new LiveSampler(options);
    this.#sampler.start((changes) => {
      for (const stream of this.#streams.keys()) this.#tell(stream, changes);
    });
  }

  /**
   * A stream of events that watches this queue; 503 when there are too many streams. `authorization`: the header of that name, which was right.
   * The stream ends when it may not be any more, so that its client has to send credentials anew.
   */
  open(watched: string | undefined, authorization: string | null = null): Response {
    if (this.#isClosed) return unavailable('The broker is shutting down.');
    if (this.#streams.size >= MAX_STREAMS)
      return unavailable(
        `The dashboard has ${MAX_STREAMS} live streams already; close a page of it elsewhere.`,
      );
    const stream = this.#createStream(watched);
    const stopWatching = this.#options.access?.watch(authorization, () => this.#end(stream));
    this.#streams.set(stream, stopWatching ?? (() => undefined));
    return new Response(stream.body, { headers: eventStreamHeaders });
  }

  /** Ends all streams and the sampler. */
  close(): void {
    this.#isClosed = true;
    this.#sampler.close();
    for (const stream of this.#streams.keys()) this.#end(stream);
  }

  #end(stream: LiveStream): void {
    this.#forget(stream);
    stream.end();
  }

  #forget(stream: LiveStream): void {
    this.#streams.get(stream)?.();
    this.#streams.delete(stream);
  }

  /** A fault of one stream ends it, and no other. */
  #tell(stream: LiveStream, changes: QueueChanges): void {
    try {
      stream.sampled(changes);
    } catch (error) {
      this.#options.onFault(error);
      this.#end(stream);
    }
  }

  #createStream(watched: string | undefined): LiveStream {
    const { view, clock, serverVersion, access, tcp } = this.#options;
    const stream: LiveStream = new LiveStream({
      sampler: this.#sampler,
      view,
      wallNow: clock.wallNow,
      serverVersion,
      asksForCredentials: access !== undefined,
      tcp,
      watched,
      onCancel: () => this.#forget(stream),
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
