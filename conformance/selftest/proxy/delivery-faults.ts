// Faults in deliveries: changed, sent twice, in another order, to another subscriber, or lost. Area: DELIVERY.
import { Command } from '../../src/wire/command.ts';
import { encodeFrame } from '../../src/wire/encode.ts';
import type { FaultSetting, Passage, PassingFrame, ProxyFault } from './passage.ts';
import { everyNth } from './passage.ts';

/** Handles a Deliver; returns false to pass it on unchanged. */
type Handle = (frame: PassingFrame, passage: Passage) => boolean;

/** Exchanges every nth Deliver with the next one from the same queue on the same connection, if one follows soon. */
export function swapDeliveries(setting: FaultSetting): ProxyFault {
  const isDue = everyNth(setting);
  const maxWaitMs = 25;
  const kept = new Map<string, { readonly bytes: Buffer; readonly timer: NodeJS.Timeout }>();
  let isPending = false;
  return onDeliver((frame, passage) => {
    const key = `${passage.number} ${frame.fields.queue}`;
    const earlier = kept.get(key);
    if (earlier !== undefined) {
      clearTimeout(earlier.timer);
      kept.delete(key);
      passage.toClient(frame.bytes);
      passage.toClient(earlier.bytes);
      return true;
    }
    isPending = isDue() || isPending;
    if (!isPending) return false;
    isPending = false;
    const giveUp = (): void => {
      kept.delete(key);
      isPending = true;
      passage.toClient(frame.bytes);
    };
    kept.set(key, { bytes: frame.bytes, timer: setTimeout(giveUp, maxWaitMs) });
    return true;
  });
}

/** Changes one character in the payload of every nth Deliver. */
export function replacePayloads(setting: FaultSetting): ProxyFault {
  return changing(everyNth(setting), ({ fields }) => ({ payload: otherPayload(fields.payload) }));
}

/** Returns another JSON text: changes one digit, or the whole text if it has no digit. */
function otherPayload(payload: Buffer): Buffer {
  const text = payload.toString('latin1');
  const at = text.search(/\d(?!.*\d)/s);
  if (at < 0) return Buffer.from(text === 'null' ? 'true' : 'null');
  return Buffer.from(`${text.slice(0, at)}${(Number(text[at]) % 9) + 1}${text.slice(at + 1)}`, 'latin1');
}

const tokens = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Rounds integers to doubles. */
export function roundIntegers(): ProxyFault {
  const rounded = (token: string): string =>
    /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token)) ? String(Number(token)) : token;
  return onDeliver((frame, passage) => {
    const text = frame.fields.payload.toString('utf8');
    const changed = text.replace(tokens, rounded);
    if (changed === text) return false;
    passage.toClient(frame.with({ payload: changed }));
    return true;
  });
}

/** Sends every nth Deliver twice. */
export function deliverTwice(setting: FaultSetting): ProxyFault {
  const isDue = everyNth(setting);
  return onDeliver((frame, passage) => {
    if (isDue()) passage.toClient(frame.bytes);
    return false;
  });
}

/** Sends every nth Deliver with the name of another queue. */
export function wrongQueues(setting: FaultSetting): ProxyFault {
  return changing(everyNth(setting), ({ fields }) => ({ queue: `${fields.queue}-2` }));
}

/** Removes the last header of every nth Deliver. */
export function loseHeaders(setting: FaultSetting): ProxyFault {
  const isDue = everyNth(setting);
  const hasAny = ({ fields }: PassingFrame): boolean => fields.headers.length > 0;
  return changing(
    (frame) => hasAny(frame) && isDue(),
    ({ fields }) => ({ headers: fields.headers.slice(0, -1) }),
  );
}

/** Loses every nth Deliver and acknowledges it to the broker. */
export function loseDeliveries(setting: FaultSetting): ProxyFault {
  const isDue = everyNth(setting);
  return onDeliver((frame, passage) => {
    if (!isDue()) return false;
    passage.toBroker(ackOf(frame));
    return true;
  });
}

/** Sends nothing to a subscription after its first n deliveries. */
export function stopAfter({ first }: FaultSetting): ProxyFault {
  const counts = new Map<string, number>();
  return onDeliver((frame, passage) => {
    const key = `${passage.number} ${frame.fields.queue}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    return (counts.get(key) ?? 0) > first;
  });
}

/** Sends every nth Deliver to another subscriber of the queue. */
export function otherSubscribers(setting: FaultSetting): ProxyFault {
  const isDue = everyNth(setting);
  const subscribed = new Map<string, Set<Passage>>();
  return {
    fromClient: (frame, passage) => {
      if (frame.command !== Command.Subscribe) return false;
      const { queue } = frame.fields;
      subscribed.set(queue, (subscribed.get(queue) ?? new Set()).add(passage));
      return false;
    },
    fromBroker: (frame, passage) => {
      if (frame.command !== Command.Deliver) return false;
      const others = [...(subscribed.get(frame.fields.queue) ?? [])].filter((one) => one !== passage);
      const [other] = others;
      if (other === undefined || !isDue()) return false;
      other.toClient(frame.bytes);
      return true;
    },
    clientClosed: (passage) => {
      for (const passages of subscribed.values()) passages.delete(passage);
    },
  };
}

/** Loses every nth message that a subscriber holds when its connection ends. */
export function loseHeldMessages(setting: FaultSetting): ProxyFault {
  const isDue = everyNth(setting);
  const held = new Map<Passage, Map<string, PassingFrame>>();
  const lose = (passage: Passage): void => {
    const frames = [...(held.get(passage)?.values() ?? [])];
    held.delete(passage);
    for (const frame of frames) if (isDue()) passage.toBroker(ackOf(frame));
  };
  return {
    opened: (passage) => void held.set(passage, new Map()),
    fromClient: (frame, passage) => {
      if (frame.command === Command.Ack) held.get(passage)?.delete(frame.fields.id);
      if (frame.command === Command.Disconnect) lose(passage);
      return false;
    },
    fromBroker: (frame, passage) => {
      if (frame.command === Command.Deliver) held.get(passage)?.set(frame.fields.id, frame);
      return false;
    },
    clientClosed: lose,
  };
}

function onDeliver(handle: Handle): ProxyFault {
  return { fromBroker: (frame, passage) => frame.command === Command.Deliver && handle(frame, passage) };
}

function changing(
  isDue: (frame: PassingFrame) => boolean,
  changes: (frame: PassingFrame) => Parameters<PassingFrame['with']>[0],
): ProxyFault {
  return onDeliver((frame, passage) => {
    if (!isDue(frame)) return false;
    passage.toClient(frame.with(changes(frame)));
    return true;
  });
}

function ackOf({ fields }: PassingFrame): Buffer {
  return encodeFrame({ command: Command.Ack, id: fields.id, queue: fields.queue });
}
