// Faults in the answers of the broker: one that is lost, comes late, comes twice or carries another id. Whatever a check makes of them, it
// is the broker's fault and never the runner's. Area: CONN.
import { Command } from '../../src/wire/command.ts';
import type { FaultSetting, LifeFault, Passage, PassingFrame } from './passage.ts';
import { strikes } from './passage.ts';

const lateMs = 700;

/** Never sends every nth answer. */
export function loseAnswers(setting: FaultSetting): LifeFault {
  return onAnswer(setting, () => {});
}

/** Sends every nth answer 700 ms later, after others. */
export function delayAnswers(setting: FaultSetting): LifeFault {
  return onAnswer(setting, (frame, passage) => {
    setTimeout(() => passage.toClient(frame.bytes), lateMs);
  });
}

/** Sends every nth answer twice. */
export function doubleAnswers(setting: FaultSetting): LifeFault {
  return onAnswer(setting, (frame, passage) => {
    passage.toClient(frame.bytes);
    passage.toClient(frame.bytes);
  });
}

/** Sends every nth answer with an id that nobody knows. */
export function strangeAnswers(setting: FaultSetting): LifeFault {
  return onAnswer(setting, (frame, passage) => {
    passage.toClient(frame.with({ id: `strange-${frame.fields.id}`.slice(0, 200) }));
  });
}

/** Sends every nth answer with the id of the answer before it. */
export function mixedAnswers(setting: FaultSetting): LifeFault {
  const earlier = new Map<Passage, string>();
  const swap = onAnswer(setting, (frame, passage) => {
    passage.toClient(frame.with({ id: earlier.get(passage) ?? 'none' }));
  });
  return {
    fromBroker: (frame, passage) => {
      const isHandled = swap.fromBroker?.(frame, passage) ?? false;
      if (isAnswer(frame)) earlier.set(passage, frame.fields.id);
      return isHandled;
    },
    leaving: (passage) => void earlier.delete(passage),
  };
}

function onAnswer(setting: FaultSetting, handle: (frame: PassingFrame, passage: Passage) => void): LifeFault {
  const { answer } = setting;
  const isDue = strikes(setting);
  return {
    fromBroker: (frame, passage) => {
      if (!isAnswer(frame) || (answer ?? frame.command) !== frame.command || !isDue()) return false;
      handle(frame, passage);
      return true;
    },
  };
}

function isAnswer({ command }: PassingFrame): boolean {
  return command !== Command.Deliver && command !== Command.Disconnect;
}
