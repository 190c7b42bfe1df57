// What RoundRobin and PriorityBased share: each message is with one subscriber at a time, the subscribers take turns, and a retry goes to
// another one where there is one with room. Implements DELIVERY-011, DELIVERY-013, DELIVERY-030, DELIVERY-032, DELIVERY-060 and RETRY-011.

import type { Delivery, DeliveryOwner, Ending } from './delivery.ts';
import { Member } from './members.ts';
import { ModeDelivery } from './mode-delivery.ts';
import type { Subscription } from './subscriber.ts';

export abstract class OneSubscriber extends ModeDelivery<Member> implements DeliveryOwner {
  /** A delivery goes on counting where the one before it has ended. */
  readonly sentBefore = 0;

  canDeliverNow(): boolean {
    return this.queue.waiting.size === 0 && this.members.ready.size > 0;
  }

  dispatch(): void {
    const { queue, members, tools } = this;
    for (;;) {
      const member = members.ready.first();
      if (member === undefined) return;
      const message = tools.lifecycle.nextToSend(queue);
      if (message === undefined) return;
      queue.waiting.remove(message);
      message.move('deliver');
      members.ready.served(member);
      tools.inFlight.send(this, message, member, message);
    }
  }

  attemptFailed({ message, failedAttempts }: Delivery): void {
    message.failedAttempts = failedAttempts;
    message.interruptedCount = 0;
    this.tools.lifecycle.attemptFailed(this.queue, message);
  }

  paused({ message }: Delivery): void {
    message.move('pause');
  }

  resume(delivery: Delivery): void {
    const { message, member } = delivery;
    const { inFlight, lifecycle } = this.tools;
    const other = this.members.ready.firstOtherThan(member);
    if (other !== undefined) {
      this.members.ready.served(other);
      inFlight.remove(delivery);
      message.move('resend');
      inFlight.send(this, message, other, message);
    } else if (member.subscription.active && member.subscriber.writable) {
      message.move('resend');
      inFlight.resend(delivery);
    } else {
      inFlight.remove(delivery);
      lifecycle.release(this.queue, message, false);
    }
  }

  ended({ message }: Delivery, ending: Ending): void {
    const { queue } = this;
    const { lifecycle } = this.tools;
    switch (ending.kind) {
      case 'acknowledged':
        return lifecycle.acknowledge(queue, message);
      case 'failed':
        return lifecycle.deadLetterOrDiscard(queue, message, ending.reason, message.failedAttempts);
      case 'released':
        return lifecycle.release(queue, message, ending.interrupted);
    }
  }

  protected newMember(subscription: Subscription): Member {
    return new Member(subscription, this.members);
  }
}
