// Contents of messages for tests: of given bytes, or of a number of bytes that nobody looks at.

import type { MessageContent } from '../broker/interface/message-content.ts';
import { contentOf } from '../storage/contract/message-contents.ts';

export { contentOf };

export function anyContent(byteLength: number): MessageContent {
  return contentOf(new Uint8Array(byteLength));
}
