// The result when no state of the model explains what the broker did: the broken rule, and what is wrong in words. Types only.
import type { State } from './state.ts';

export type Breach = { readonly clause: string; readonly text: string };

/** The states that explain an observation; if there are none, the broken rule. */
export type Explanation = { readonly states: readonly State[]; readonly breach?: Breach };
