// What the model says when nothing that may have happened explains what came: the rule, and what is wrong in words. Types only.
import type { State } from './state.ts';

export type Breach = { readonly clause: string; readonly text: string };

/** What one observation makes of one state: the states that explain it; where there is none, why. */
export type Explanation = { readonly states: readonly State[]; readonly breach?: Breach };
