// Creates and reads the message contents of the contract suite; no other file of the suite does.

import type { MessageContent } from '../../broker/interface/message-content.ts';

/** A class, so that two contents with the same bytes are equal when records are compared. */
class BytesContent implements MessageContent {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  get byteLength(): number {
    return this.bytes.length;
  }

  toBytes(): Uint8Array {
    return this.bytes;
  }
}

/** A content of these bytes, as the broker hands it to a store. */
export function contentOf(bytes: Uint8Array): MessageContent {
  return new BytesContent(bytes);
}

/** The bytes of a content that the broker handed to a store. */
export function bytesOf(content: MessageContent): Uint8Array {
  return content.toBytes();
}
