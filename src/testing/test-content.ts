// Contents of messages for tests: with given bytes, or with a number of arbitrary bytes.

import type { MessageContent } from '../broker/interface/message-content.ts';
import { contentOf } from '../storage/contract/message-contents.ts';

export { contentOf };

export function anyContent(byteLength: number): MessageContent {
  return contentOf(new Uint8Array(byteLength));
}
