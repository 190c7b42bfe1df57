// What an input of a connection counts in the limit on its pending input, until the backend has processed it.

import type { Input } from '../broker/interface/input.ts';
import { type ClientToken, isReadyAnswer } from './translate/tokens.ts';

/** The memory of a Publish without content. */
const INPUT_OVERHEAD_BYTES = 384;

export function pendingBytesOf(input: Input, maxMessageSizeBytes: number): number {
  switch (input.kind) {
    case 'publish':
      return input.content.byteLength + INPUT_OVERHEAD_BYTES;
    case 'listQueues':
      // An answer that may be much longer than its command.
      return maxMessageSizeBytes + INPUT_OVERHEAD_BYTES;
    case 'barrier':
      return readyBytes(input.token as ClientToken) + INPUT_OVERHEAD_BYTES;
    default:
      return INPUT_OVERHEAD_BYTES;
  }
}

/** The payload of an answer that is ready and waits for its turn, such as a list of users. */
function readyBytes(token: ClientToken): number {
  return isReadyAnswer(token) ? (token.fields.payload?.length ?? 0) : 0;
}
