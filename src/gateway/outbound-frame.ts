// What a connection sends: frames as the gateway queues them, and as they are ready to be written.

// The global is an accessor, which takes time for each message (docs/internals/performance.md).
import { Buffer } from 'node:buffer';
import type { MessageFields } from '../protocol/message.ts';
import { KeptContent } from './kept-content.ts';

/** A frame to send: the fields of a small one, or an encoded body, which must not be changed any more. */
export type OutboundFrame = MessageFields | EncodedBody;

export type EncodedBody = KeptContent | Buffer;

/** A frame as it is sent: its body, with the length and the flags that go before it. */
export type ReadyFrame = {
  readonly frame: OutboundFrame;
  readonly bodyLength: number;
  readonly flags: number;
};

export function isEncoded(frame: OutboundFrame): frame is EncodedBody {
  return frame instanceof KeptContent || Buffer.isBuffer(frame);
}
