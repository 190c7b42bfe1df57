// Faults in what the broker does with the commands of a client: publishes that are confirmed and forgotten, acks that are not read,
// subscriptions that are confirmed and not served. Areas: PUBLISH, DELIVERY.
import { Command } from '../../src/wire/command.ts';
import { encodeFrame } from '../../src/wire/encode.ts';
import type { FaultSetting, LifeFault, Passage, PassingFrame } from './passage.ts';
import { strikes } from './passage.ts';

/** Confirms every nth Publish and drops it. */
export function dropPublishes(setting: FaultSetting): LifeFault {
  return forgetting(strikes(setting));
}

/** Confirms and drops each Publish to a queue after its first so many. */
export function forgetAfter({ first }: FaultSetting): LifeFault {
  const counts = new Map<string, number>();
  return forgetting((queue) => {
    const count = (counts.get(queue) ?? 0) + 1;
    counts.set(queue, count);
    return count > first;
  });
}

/** Confirms and drops each Publish to a queue that holds so many messages. */
export function forgetBeyond({ first }: FaultSetting): LifeFault {
  const depths = new Map<string, number>();
  const forget = forgetting((queue) => {
    const depth = depths.get(queue) ?? 0;
    if (depth < first) depths.set(queue, depth + 1);
    return depth >= first;
  });
  return {
    ...forget,
    fromBroker: (frame) => {
      if (frame.command !== Command.Deliver) return false;
      const { queue } = frame.fields;
      depths.set(queue, Math.max(0, (depths.get(queue) ?? 0) - 1));
      return false;
    },
  };
}

/** Does not read every nth Ack. */
export function ignoreAcks(setting: FaultSetting): LifeFault {
  const isDue = strikes(setting);
  return { fromClient: (frame) => frame.command === Command.Ack && isDue() };
}

/** Confirms each Subscribe to a queue that has so many subscribers, and never serves it. */
export function fewSubscribers({ first }: FaultSetting): LifeFault {
  const served = new Map<string, Set<Passage>>();
  const leave = (passage: Passage, queue?: string): void => {
    for (const [name, passages] of served) if (name === (queue ?? name)) passages.delete(passage);
  };
  return {
    fromClient: (frame, passage) => {
      if (frame.command === Command.Unsubscribe) leave(passage, frame.fields.queue);
      if (frame.command !== Command.Subscribe) return false;
      const passages = served.get(frame.fields.queue) ?? new Set();
      served.set(frame.fields.queue, passages);
      if (!passages.has(passage) && passages.size >= first) return confirmed(frame, passage);
      passages.add(passage);
      return false;
    },
    leaving: (passage) => leave(passage),
  };
}

/** Confirms each Subscribe on a connection that has so many subscriptions, and never serves it. */
export function fewSubscriptions({ first }: FaultSetting): LifeFault {
  const served = new Map<Passage, Set<string>>();
  return {
    opened: (passage) => void served.set(passage, new Set()),
    fromClient: (frame, passage) => {
      const queues = served.get(passage) ?? new Set();
      if (frame.command === Command.Unsubscribe) queues.delete(frame.fields.queue);
      if (frame.command !== Command.Subscribe) return false;
      const { queue } = frame.fields;
      if (!queues.has(queue) && queues.size >= first) return confirmed(frame, passage);
      queues.add(queue);
      return false;
    },
    leaving: (passage) => void served.delete(passage),
  };
}

/** Cuts each connection that is opened while there are so many. */
export function fewConnections({ first }: FaultSetting): LifeFault {
  const open = new Set<Passage>();
  return {
    opened: (passage) => {
      if (open.size >= first) passage.cut();
      else open.add(passage);
    },
    leaving: (passage) => void open.delete(passage),
  };
}

const turned: Readonly<Record<string, string>> = {
  Low: 'Critical',
  Normal: 'High',
  High: 'Normal',
  Critical: 'Low',
};

/** Takes every nth Publish that has a priority with the opposite one; Deliver carries the right one. */
export function turnPriorities(setting: FaultSetting): LifeFault {
  const isDue = strikes(setting);
  const published = new Map<string, string>();
  const withPriority = (frame: PassingFrame, value: string): Buffer =>
    frame.with({
      headers: frame.fields.headers.map(([key, old]) => [key, key === 'priority' ? value : old] as const),
    });
  return {
    fromClient: (frame, passage) => {
      if (frame.command !== Command.Publish) return false;
      const priority = frame.fields.headers.find(([key]) => key === 'priority')?.[1] ?? '';
      const opposite = turned[priority];
      if (opposite === undefined || !isDue()) return false;
      published.set(frame.fields.id, priority);
      passage.toBroker(withPriority(frame, opposite));
      return true;
    },
    fromBroker: (frame, passage) => {
      const priority = frame.command === Command.Deliver ? published.get(frame.fields.id) : undefined;
      if (priority === undefined) return false;
      passage.toClient(withPriority(frame, priority));
      return true;
    },
  };
}

/** `isDue` is asked for each Publish, with its queue. */
function forgetting(isDue: (queue: string) => boolean): LifeFault {
  return {
    fromClient: (frame, passage) =>
      frame.command === Command.Publish && isDue(frame.fields.queue) && confirmed(frame, passage),
  };
}

/** The answer of a broker that has done what was asked. */
function confirmed(frame: PassingFrame, passage: Passage): true {
  const { command, id, queue } = frame.fields;
  // Each answer's number follows that of its command: PublishAck, SubscribeAck.
  passage.answerInPlace(encodeFrame({ command: command + 1, id, queue }));
  return true;
}
