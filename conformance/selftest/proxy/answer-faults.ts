// Faults in the answers of the broker: an answer is lost, late, sent twice, or has another id. Any outcome of a check is right, except an
// error of the runner. Area: CONN.
import { Command } from '../../src/wire/command.ts';
import type { FaultSetting, Passage, PassingFrame, ProxyFault } from './passage.ts';
import { everyNth } from './passage.ts';

const lateMs = 700;

/** Does not send every nth answer. */
export function loseAnswers(setting: FaultSetting): ProxyFault {
  return onAnswer(setting, () => {});
}

/** Sends every nth answer 700 ms later, after others. */
export function delayAnswers(setting: FaultSetting): ProxyFault {
  return onAnswer(setting, (frame, passage) => {
    setTimeout(() => passage.toClient(frame.bytes), lateMs);
  });
}

/** Sends every nth answer twice. */
export function doubleAnswers(setting: FaultSetting): ProxyFault {
  return onAnswer(setting, (frame, passage) => {
    passage.toClient(frame.bytes);
    passage.toClient(frame.bytes);
  });
}

/** Sends every nth PublishAck twice. */
export function doubleConfirmations(setting: FaultSetting): ProxyFault {
  return doubleAnswers({ ...setting, answer: Command.PublishAck });
}

/** Sends every nth answer with an unknown id. */
export function strangeAnswers(setting: FaultSetting): ProxyFault {
  return onAnswer(setting, (frame, passage) => {
    passage.toClient(frame.with({ id: `strange-${frame.fields.id}`.slice(0, 200) }));
  });
}

/** Sends every nth answer with the id of the answer before it. */
export function mixedAnswers(setting: FaultSetting): ProxyFault {
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
    clientClosed: (passage) => void earlier.delete(passage),
  };
}

function onAnswer(
  setting: FaultSetting,
  handle: (frame: PassingFrame, passage: Passage) => void,
): ProxyFault {
  const { answer } = setting;
  const isDue = everyNth(setting);
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
