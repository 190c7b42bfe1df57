// Drives a ServerSession like its owner, synchronously: decompresses in place and decides every Connect by a given rule. For tests of the
// events of a session.

import { allInPlace, ZlibCompressor } from '../compression/zlib-compressor.ts';
import { ErrorCode } from '../model/error-code.ts';
import { defaultLimits } from '../protocol/limits.ts';
import { type Message, noHeaders } from '../protocol/message.ts';
import {
  type ConnectOutcome,
  ServerSession,
  type ServerSessionOptions,
  type SessionEvent,
} from '../session/server-session.ts';

export type Decide = (connect: Message) => ConnectOutcome;

export const acceptAll: Decide = () => ({ kind: 'accept', serverHeaders: noHeaders });

export const refuseAll: Decide = () => ({
  kind: 'refuse',
  code: ErrorCode.AuthFailed,
  text: 'Wrong credentials.',
  closes: false,
});

export class SessionDriver {
  readonly session: ServerSession;
  readonly #decide: Decide;
  // Synchronous: a promise would need a turn of the event loop.
  readonly #compressor = new ZlibCompressor(allInPlace);

  constructor(options: Partial<ServerSessionOptions> = {}, decide: Decide = acceptAll) {
    let freshCount = 0;
    this.#decide = decide;
    this.session = new ServerSession({
      limits: defaultLimits,
      supportedCompressions: ['brotli', 'gzip'],
      compressionThresholdBytes: 1024,
      freshId: () => {
        freshCount += 1;
        return `fresh-${freshCount}`;
      },
      ...options,
    });
  }

  /** The events of the bytes, without the requests (inflate, connect) that the driver answers itself. */
  feed(...chunks: readonly Buffer[]): readonly SessionEvent[] {
    return chunks.flatMap((chunk) => {
      this.session.handleBytes(chunk);
      return this.drain();
    });
  }

  drain(): readonly SessionEvent[] {
    const events: SessionEvent[] = [];
    for (let event = this.session.next(); event !== undefined; event = this.session.next()) {
      if (event.kind === 'inflate') this.#inflate(event);
      else if (event.kind === 'connect') this.session.handleConnectOutcome(this.#decide(event.message));
      else events.push(event);
    }
    return events;
  }

  #inflate(event: SessionEvent & { readonly kind: 'inflate' }): void {
    const result = this.#compressor.decompress(event.algorithm, event.body, event.limitBytes);
    if (result instanceof Promise) throw new Error('Inflating in place was expected.');
    this.session.handleInflated(result);
  }
}

/** One short text for each event, for comparing whole conversations. */
export function describeEvent(event: SessionEvent): string {
  switch (event.kind) {
    case 'message':
      return `command ${event.message.command} ${event.message.id}`;
    case 'answer': {
      const { command, id, errorCode } = event.fields;
      return errorCode === undefined ? `answer ${command} ${id}` : `answer ${command} ${id} ${errorCode}`;
    }
    case 'close':
      return `close ${event.cause}`;
    case 'connect':
      return `connect ${event.message.id}`;
    case 'inflate':
      return `inflate ${event.algorithm}`;
  }
}
