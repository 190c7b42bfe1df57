// Sends a command and waits for its answer with long deadlines. An answer that is missing, late, wrong, or comes only after another frame
// was sent is recorded as a finding. Areas: CONN, PUBLISH.
import type { ProbeClient } from '../observation/probe-client.ts';
import type { Timing } from '../timing.ts';
import { frameText } from '../trace.ts';
import type { BrokerConnection } from '../wire/broker-connection.ts';
import type { CommandName } from '../wire/command.ts';
import { Command } from '../wire/command.ts';
import type { FrameFields, ReceivedFrame } from '../wire/frame.ts';
import type { Examination } from './examination.ts';
import type { MistakeName } from './finding.ts';
import { seconds, slownessFinding } from './slow-answers.ts';

export type ExchangeSetting = {
  /** It has long deadlines. */
  readonly client: ProbeClient;
  readonly examination: Examination;
  /** The deadlines of a run. */
  readonly timing: Timing;
  readonly timeoutScale: number;
};

export type ExpectedAnswerTo = {
  readonly name: string;
  readonly fields: FrameFields;
  readonly wanted: CommandName;
};

/** Sends a command. True if the right answer came, also if it was late. */
export async function requestAnswer(
  setting: ExchangeSetting,
  connection: BrokerConnection,
  question: ExpectedAnswerTo,
): Promise<boolean> {
  const { name, fields, wanted } = question;
  const sentAt = performance.now();
  await connection.send(fields);
  const answer = await awaitFrame(setting, connection, {
    step: name,
    what: `the answer to ${name}`,
    // A Deliver may come before any answer.
    fits: (frame) => frame.command !== Command.Deliver,
    fitsLate: (frame) =>
      frame.id === fields.id || frame.command === Command.Error || isOther(frame, wanted, 'Pong'),
    deadlineMs: setting.timing.answerMs,
    missing: 'no-answer',
    sentAt,
  });
  return answer !== undefined && isRight(setting.examination, question, answer);
}

function isOther(frame: ReceivedFrame, wanted: CommandName, excluded: CommandName): boolean {
  return wanted !== excluded && frame.commandName === wanted;
}

function isRight(
  examination: Examination,
  { name, fields, wanted }: ExpectedAnswerTo,
  answer: ReceivedFrame,
): boolean {
  const shown = frameText(answer);
  if (answer.commandName !== wanted) {
    examination.find(name, { mistake: 'refused', seen: `${name} was answered by ${shown}` });
    return false;
  }
  if (answer.id === fields.id) return true;
  const seen = `the command had id ${fields.id}, its answer is ${shown}`;
  examination.find(name, { mistake: 'answer-id', seen });
  return false;
}

export type AwaitedFrame = {
  readonly step: string;
  /** The frame in words: "the answer to publish". */
  readonly what: string;
  readonly fits: (frame: ReceivedFrame) => boolean;
  /** As `fits`, after a Ping was sent, so that it must not accept the Pong; default: `fits`. */
  readonly fitsLate?: (frame: ReceivedFrame) => boolean;
  /** How long a run waits. */
  readonly deadlineMs: number;
  /** The mistake if the frame does not come at all. */
  readonly missing: MistakeName;
  /** More text for the finding if the frame does not come. */
  readonly explain?: () => Promise<string>;
  readonly sentAt: number;
};

/** The frame; undefined after a finding was recorded. */
export async function awaitFrame(
  setting: ExchangeSetting,
  connection: BrokerConnection,
  wait: AwaitedFrame,
): Promise<ReceivedFrame | undefined> {
  const { client, examination, timeoutScale } = setting;
  const { step, what, deadlineMs } = wait;
  const withinMs = client.timing.answerMs;
  const came = await connection.take(wait.fits, { what, withinMs }).catch(() => undefined);
  if (came === undefined) return pingAndWait(setting, connection, wait);
  const elapsedMs = performance.now() - wait.sentAt;
  examination.note(step, slownessFinding(what, { elapsedMs, deadlineMs, scale: timeoutScale }));
  return came;
}

/** Sends a Ping: perhaps the missing frame is in a buffer that is not flushed. */
async function pingAndWait(
  { client, examination, timing }: ExchangeSetting,
  connection: BrokerConnection,
  { step, what, fits, fitsLate = fits, missing, explain }: AwaitedFrame,
): Promise<undefined> {
  const waited = seconds(client.timing.answerMs);
  if (connection.isClosed) {
    const seen = `the broker closed the connection instead of sending ${what}`;
    examination.find(step, { mistake: 'no-answer', seen });
    return;
  }
  const id = client.id();
  await connection.send({ command: Command.Ping, id });
  const late = await connection
    .take((frame) => frame.id !== id && fitsLate(frame), { what, withinMs: timing.answerMs })
    .catch(() => undefined);
  if (late !== undefined) {
    const seen = `${what} came only after a Ping was sent too: ${frameText(late)}`;
    examination.find(step, { mistake: 'not-flushed', seen });
    return;
  }
  const isAlive = connection.untaken.some((frame) => frame.command === Command.Pong && frame.id === id);
  const also = isAlive
    ? ', though a Ping that was sent later was answered'
    : ', nor a Ping that was sent later';
  const more = isAlive && explain !== undefined ? await explain() : '';
  examination.find(step, { mistake: missing, seen: `${what} did not come within ${waited}${also}${more}` });
}
