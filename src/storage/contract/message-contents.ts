// The only two places of the contract suite that know what a message content is: one makes it, one reads it.

import type { StoredMessage } from '../../broker/interface/store-record.ts';

type Content = StoredMessage['content'];

/** A content of these bytes, as the broker hands it to a store. */
export function contentOf(bytes: Uint8Array): Content {
  return bytes;
}

/** The bytes of a content that the broker handed to a store. */
export function bytesOf(content: Content): Uint8Array {
  return content as Uint8Array;
}
