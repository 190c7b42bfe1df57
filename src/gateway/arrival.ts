// What a connection passes to the engine; handled in arrival order.

import type { Input } from '../broker/interface/input.ts';
import type { MessageFields } from '../protocol/message.ts';

/** One event of a connection; takes effect in arrival order. */
export type Arrival =
  | { readonly kind: 'input'; readonly input: Input }
  | { readonly kind: 'answer'; readonly fields: MessageFields }
  /** The connection is to be closed once everything before is answered. */
  | { readonly kind: 'close' }
  /** The connection is gone. */
  | { readonly kind: 'gone' };
