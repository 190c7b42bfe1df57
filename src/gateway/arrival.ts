// What the engine is handed by a connection, and takes up in the order in which it came.

import type { Input } from '../broker/interface/input.ts';
import type { MessageFields } from '../protocol/message.ts';

/** Something that a connection brought, to take effect in the order of arrival. */
export type Arrival =
  | { readonly kind: 'input'; readonly input: Input }
  | { readonly kind: 'answer'; readonly fields: MessageFields }
  /** The connection is to be closed once everything before is answered. */
  | { readonly kind: 'close' }
  /** The connection is gone. */
  | { readonly kind: 'gone' };
