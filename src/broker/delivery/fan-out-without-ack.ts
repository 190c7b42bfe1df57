// FanOutWithoutAck: each message to every subscriber that takes it now, no ack asked for, done on sending. A subscriber that does not
// drain its connection misses the message, alone. Whether a connection that has reached maxBurstBytes drains is known when that has been
// written; until then the message waits. Implements DELIVERY-024 to DELIVERY-029.

import type { QueuedMessage } from '../queue/message.ts';
import { PublishOrder, type WaitingMessages } from '../queue/waiting-order.ts';
import type { Burst } from './burst-limit.ts';
import { Member, type Members } from './members.ts';
import { ModeDelivery } from './mode-delivery.ts';
import { sendMessage } from './send-message.ts';
import type { Subscription } from './subscriber.ts';

class BurstMember extends Member {
  readonly burst: Burst;

  constructor(subscription: Subscription, members: Members<Member>, burst: Burst) {
    super(subscription, members);
    this.burst = burst;
  }
}

export class FanOutWithoutAck extends ModeDelivery<BurstMember> {
  newWaitingMessages(): WaitingMessages {
    return new PublishOrder();
  }

  canDeliverNow(): boolean {
    const { queue, members } = this;
    return queue.waiting.size === 0 && members.ready.size > 0 && !this.#waitsForSaturated();
  }

  dispatch(): void {
    const { queue, members, tools } = this;
    while (members.ready.size > 0 && !this.#waitsForSaturated()) {
      const message = tools.lifecycle.nextToSend(queue);
      if (message === undefined) return;
      queue.waiting.remove(message);
      const missedCount = members.size - members.ready.size;
      for (const member of members) {
        if (member.isReady) this.#send(message, member);
      }
      tools.lifecycle.sent(queue, message, missedCount);
    }
  }

  protected override windowOf(): undefined {
    return undefined;
  }

  protected newMember(subscription: Subscription): BurstMember {
    return new BurstMember(subscription, this.members, this.tools.bursts.of(subscription.subscriber));
  }

  /** Nothing is in flight afterwards. */
  #send(message: QueuedMessage, member: BurstMember): void {
    sendMessage(this.tools.step, this.queue, message, { member, attempt: 1 }, 0);
    this.tools.bursts.add(member.subscriber, member.burst, message.heldBytes);
  }

  #waitsForSaturated(): boolean {
    if (this.members.ready.size === this.members.size) return false;
    for (const { burst } of this.members) if (burst.isSaturated) return true;
    return false;
  }
}
