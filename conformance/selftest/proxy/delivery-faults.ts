// Faults in what the broker delivers: changed, twice, in another order, to somebody else, or not at all. Area: DELIVERY.
import { Command } from '../../src/wire/command.ts';
import { encodeFrame } from '../../src/wire/encode.ts';
import type { FaultSetting, LifeFault, Passage, PassingFrame } from './passage.ts';
import { strikes } from './passage.ts';

/** What a fault does with a Deliver; false lets it pass. */
type Handle = (frame: PassingFrame, passage: Passage) => boolean;

/** Exchanges every nth Deliver with the next one from the same queue on the same connection, where one follows soon. */
export function swapDeliveries(setting: FaultSetting): LifeFault {
  const isDue = strikes(setting);
  const patienceMs = 25;
  const kept = new Map<string, { readonly bytes: Buffer; readonly timer: NodeJS.Timeout }>();
  let isOwed = false;
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
    isOwed = isDue() || isOwed;
    if (!isOwed) return false;
    isOwed = false;
    const giveUp = (): void => {
      kept.delete(key);
      isOwed = true;
      passage.toClient(frame.bytes);
    };
    kept.set(key, { bytes: frame.bytes, timer: setTimeout(giveUp, patienceMs) });
    return true;
  });
}

/** Changes one character in the payload of every nth Deliver. */
export function replacePayloads(setting: FaultSetting): LifeFault {
  return changing(strikes(setting), ({ fields }) => ({ payload: otherPayload(fields.payload) }));
}

/** Another JSON text: one digit is changed, or the whole text where it has none. */
function otherPayload(payload: Buffer): Buffer {
  const text = payload.toString('latin1');
  const at = text.search(/\d(?!.*\d)/s);
  if (at < 0) return Buffer.from(text === 'null' ? 'true' : 'null');
  return Buffer.from(`${text.slice(0, at)}${(Number(text[at]) % 9) + 1}${text.slice(at + 1)}`, 'latin1');
}

const tokens = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Reads integers as doubles. */
export function roundIntegers(): LifeFault {
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
export function deliverTwice(setting: FaultSetting): LifeFault {
  const isDue = strikes(setting);
  return onDeliver((frame, passage) => {
    if (isDue()) passage.toClient(frame.bytes);
    return false;
  });
}

/** Sends every nth Deliver with the name of another queue. */
export function wrongQueues(setting: FaultSetting): LifeFault {
  return changing(strikes(setting), ({ fields }) => ({ queue: `${fields.queue}-2` }));
}

/** Leaves the last header of every nth Deliver out. */
export function loseHeaders(setting: FaultSetting): LifeFault {
  const isDue = strikes(setting);
  const hasAny = ({ fields }: PassingFrame): boolean => fields.headers.length > 0;
  return changing(
    (frame) => hasAny(frame) && isDue(),
    ({ fields }) => ({ headers: fields.headers.slice(0, -1) }),
  );
}

/** Loses every nth Deliver, which counts as acknowledged. */
export function loseDeliveries(setting: FaultSetting): LifeFault {
  const isDue = strikes(setting);
  return onDeliver((frame, passage) => {
    if (!isDue()) return false;
    passage.toBroker(ackOf(frame));
    return true;
  });
}

/** Sends nothing more to a subscription after its first so many deliveries. */
export function stopAfter({ first }: FaultSetting): LifeFault {
  const counts = new Map<string, number>();
  return onDeliver((frame, passage) => {
    const key = `${passage.number} ${frame.fields.queue}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    return (counts.get(key) ?? 0) > first;
  });
}

/** Sends every nth Deliver to another subscriber of the queue than the one that it counts as sent to. */
export function otherSubscribers(setting: FaultSetting): LifeFault {
  const isDue = strikes(setting);
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
    leaving: (passage) => {
      for (const passages of subscribed.values()) passages.delete(passage);
    },
  };
}

/** Loses every nth message that a subscriber holds when its connection ends. */
export function loseHeldMessages(setting: FaultSetting): LifeFault {
  const isDue = strikes(setting);
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
    leaving: lose,
  };
}

function onDeliver(handle: Handle): LifeFault {
  return { fromBroker: (frame, passage) => frame.command === Command.Deliver && handle(frame, passage) };
}

function changing(
  isDue: (frame: PassingFrame) => boolean,
  changes: (frame: PassingFrame) => Parameters<PassingFrame['with']>[0],
): LifeFault {
  return onDeliver((frame, passage) => {
    if (!isDue(frame)) return false;
    passage.toClient(frame.with(changes(frame)));
    return true;
  });
}

function ackOf({ fields }: PassingFrame): Buffer {
  return encodeFrame({ command: Command.Ack, id: fields.id, queue: fields.queue });
}
