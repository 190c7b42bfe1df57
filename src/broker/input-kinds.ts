// The inputs of the core by their kind.

import type { ConnectionId, Input, Token } from './interface/input.ts';

export type InputKind = Input['kind'];

/** The input of that kind. */
export type InputOf<Kind extends InputKind> = Extract<Input, { readonly kind: Kind }>;

export type PurgeInput = InputOf<'purgeQueue'>;

/** Where the answer to a command goes. */
export type Asker = { readonly connection: ConnectionId; readonly token: Token };
