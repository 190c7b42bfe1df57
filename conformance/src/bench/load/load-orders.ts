// The orders of the measuring process to a load process, and the replies, over Node's channel between the two. Every order gets one reply,
// in order; only `credit` comes without an order. Types only.
import type { Address } from './load-link.ts';
import type { PublishPassOrder, PublishPassOutcome } from './publisher.ts';
import type { ArmOrder, Credit, ReceivePassOutcome, SubscribeOrder } from './subscriber-group.ts';

export type LoadOrder =
  | { readonly kind: 'open publisher'; readonly address: Address; readonly baseSecond: number }
  | {
      readonly kind: 'open subscribers';
      readonly address: Address;
      readonly baseSecond: number;
      readonly subscribe: SubscribeOrder;
    }
  | { readonly kind: 'publish'; readonly publish: PublishPassOrder }
  | { readonly kind: 'arm'; readonly arm: ArmOrder }
  | { readonly kind: 'expect'; readonly count: number }
  /** Gets no reply. */
  | { readonly kind: 'credit'; readonly credit: Credit };

export type LoadReply =
  | { readonly kind: 'ready' }
  | { readonly kind: 'published'; readonly outcome: PublishPassOutcome }
  | { readonly kind: 'received'; readonly outcome: ReceivePassOutcome }
  | { readonly kind: 'fault'; readonly message: string; readonly isTargets: boolean }
  | { readonly kind: 'credit'; readonly credit: Credit };
