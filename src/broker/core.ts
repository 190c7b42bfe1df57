// The parts of the core, put together from the bottom to the top. The handlers of inputs work with them.

import { VisibleNames } from './access/visible-names.ts';
import { TimerQueue } from './collections/timer-queue.ts';
import { Connections } from './connections.ts';
import { Attempts } from './delivery/attempts.ts';
import { BurstLimit } from './delivery/burst-limit.ts';
import { InFlight } from './delivery/in-flight.ts';
import { Subscriptions } from './delivery/subscriptions.ts';
import type { EarlierCore } from './interface/earlier-core.ts';
import type { BrokerSettings } from './interface/settings.ts';
import { Pacing } from './publish/pacing.ts';
import { Publishes } from './publish/publishes.ts';
import { Purges } from './purges.ts';
import { MessageLifecycle } from './queue/message-lifecycle.ts';
import { Queues } from './queue/queues.ts';
import { StepContext } from './queue/step-context.ts';
import { Users } from './users.ts';

/** The maximum number of messages that one step changes on its own account; the rest follows with the next tick. */
export const MAX_CHANGES_PER_STEP = 1000;

export class Core {
  readonly settings: BrokerSettings;
  readonly step: StepContext;
  readonly timers = new TimerQueue();
  readonly connections = new Connections();
  readonly users = new Users();
  readonly visibleNames = new VisibleNames();
  readonly queues: Queues;
  readonly lifecycle: MessageLifecycle;
  readonly inFlight: InFlight;
  readonly attempts: Attempts;
  readonly bursts: BurstLimit;
  readonly subscriptions: Subscriptions;
  readonly publishes: Publishes;
  readonly pacing: Pacing;
  readonly purges: Purges;

  constructor(settings: BrokerSettings, { stats, lastGeneration }: EarlierCore) {
    const step = new StepContext({ ...stats });
    const { timers } = this;
    this.settings = settings;
    this.step = step;
    this.inFlight = new InFlight(step, timers, settings);
    this.attempts = new Attempts(step, this.inFlight, settings);
    this.bursts = new BurstLimit(step, settings);
    // A queue needs its delivery, and that the lifecycle of messages, which needs the queues.
    this.subscriptions = new Subscriptions(step, settings, () => this);
    this.queues = new Queues(step, this.subscriptions, lastGeneration, settings.packing);
    this.lifecycle = new MessageLifecycle(step, this.queues, timers, settings);
    this.publishes = new Publishes(step, this.lifecycle, settings);
    this.pacing = new Pacing(step);
    this.purges = new Purges(step, timers, this.lifecycle);
  }
}
