// Faults in the handling of commands: the broker confirms a publish and drops it, ignores an ack, or confirms a subscription and sends it
// nothing. Areas: PUBLISH, DELIVERY.
import { Command } from '../../src/wire/command.ts';
import { encodeFrame } from '../../src/wire/encode.ts';
import type { FaultSetting, Passage, PassingFrame, ProxyFault } from './passage.ts';
import { everyNth } from './passage.ts';

/** Confirms every nth Publish and drops it. */
export function dropPublishes(setting: FaultSetting): ProxyFault {
  return forgetting(everyNth(setting));
}

/** Confirms and drops each Publish to a queue after its first n messages. */
export function forgetAfter({ first }: FaultSetting): ProxyFault {
  const counts = new Map<string, number>();
  return forgetting((queue) => {
    const count = (counts.get(queue) ?? 0) + 1;
    counts.set(queue, count);
    return count > first;
  });
}

/** Confirms and drops each Publish to a queue that holds n messages. */
export function forgetBeyond({ first }: FaultSetting): ProxyFault {
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

/** Ignores every nth Ack. */
export function ignoreAcks(setting: FaultSetting): ProxyFault {
  const isDue = everyNth(setting);
  return { fromClient: (frame) => frame.command === Command.Ack && isDue() };
}

/** Confirms each Subscribe to a queue that has n subscribers, and sends it nothing. */
export function fewSubscribers({ first }: FaultSetting): ProxyFault {
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
    clientClosed: (passage) => leave(passage),
  };
}

/** Confirms each Subscribe on a connection that has n subscriptions, and sends it nothing. */
export function fewSubscriptions({ first }: FaultSetting): ProxyFault {
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
    clientClosed: (passage) => void served.delete(passage),
  };
}

/** Cuts each new connection while n connections are open. */
export function fewConnections({ first }: FaultSetting): ProxyFault {
  const open = new Set<Passage>();
  return {
    opened: (passage) => {
      if (open.size >= first) passage.cut();
      else open.add(passage);
    },
    clientClosed: (passage) => void open.delete(passage),
  };
}

const oppositePriorities: Readonly<Record<string, string>> = {
  Low: 'Critical',
  Normal: 'High',
  High: 'Normal',
  Critical: 'Low',
};

/** Gives every nth Publish with a priority the opposite priority; Deliver has the original one. */
export function turnPriorities(setting: FaultSetting): ProxyFault {
  const isDue = everyNth(setting);
  const published = new Map<string, string>();
  const withPriority = (frame: PassingFrame, value: string): Buffer =>
    frame.with({
      headers: frame.fields.headers.map(([key, old]) => [key, key === 'priority' ? value : old] as const),
    });
  return {
    fromClient: (frame, passage) => {
      if (frame.command !== Command.Publish) return false;
      const priority = frame.fields.headers.find(([key]) => key === 'priority')?.[1] ?? '';
      const opposite = oppositePriorities[priority];
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

/** Calls `isDue` for each Publish, with its queue. */
function forgetting(isDue: (queue: string) => boolean): ProxyFault {
  return {
    fromClient: (frame, passage) =>
      frame.command === Command.Publish && isDue(frame.fields.queue) && confirmed(frame, passage),
  };
}

/** Answers as if the broker had executed the command. */
function confirmed(frame: PassingFrame, passage: Passage): true {
  const { command, id, queue } = frame.fields;
  // The number of an answer is that of its command plus 1: PublishAck, SubscribeAck.
  passage.answerInstead(encodeFrame({ command: command + 1, id, queue }));
  return true;
}
