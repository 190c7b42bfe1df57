// One Ping, one queue and one Publish, each with its answer: that it comes, in time, without being asked twice, and with the right id.
// Areas: CONN, QUEUE, PUBLISH.
import type { Visitor } from '../observation/visitor.ts';
import type { Timing } from '../timing.ts';
import { frameText } from '../trace.ts';
import type { BrokerConnection } from '../wire/broker-connection.ts';
import type { CommandName } from '../wire/command.ts';
import { Command } from '../wire/command.ts';
import type { FrameFields, ReceivedFrame } from '../wire/frame.ts';
import type { Examination } from './examination.ts';
import { seconds, slowness } from './patience.ts';

export type CommandSetting = {
  /** It waits patiently. */
  readonly visitor: Visitor;
  readonly examination: Examination;
  /** The deadlines of a run. */
  readonly timing: Timing;
  readonly timeoutScale: number;
};

/** True when every answer was the right one, however late. */
export async function tryCommands(setting: CommandSetting, queue: string): Promise<boolean> {
  const { visitor, examination } = setting;
  const connection = await visitor.connect();
  const commands: readonly (readonly [string, FrameFields, CommandName])[] = [
    ['ping', { command: Command.Ping, id: visitor.id() }, 'Pong'],
    ['queue', { command: Command.CreateQueue, id: visitor.id(), queue }, 'CreateQueue'],
    [
      'publish',
      { command: Command.Publish, id: visitor.id(), queue, payload: '{"doctor":true}' },
      'PublishAck',
    ],
  ];
  for (const [name, fields, wanted] of commands) {
    if (!(await tryCommand(setting, connection, { name, fields, wanted }))) return false;
  }
  examination.ok('commands', 'Ping, CreateQueue and Publish are answered');
  return true;
}

type Attempt = { readonly name: string; readonly fields: FrameFields; readonly wanted: CommandName };

async function tryCommand(
  setting: CommandSetting,
  connection: BrokerConnection,
  { name, fields, wanted }: Attempt,
): Promise<boolean> {
  const { examination, timing, timeoutScale } = setting;
  const sentAt = performance.now();
  await connection.send(fields);
  const answer = await connection.next().catch(() => undefined);
  const elapsedMs = performance.now() - sentAt;
  if (answer === undefined) return pokeFor(setting, connection, name);
  const took = { elapsedMs, deadlineMs: timing.answerMs, scale: timeoutScale };
  examination.note(name, slowness(`the answer to ${name}`, took));
  return judgeAnswer(examination, { name, fields, wanted }, answer);
}

function judgeAnswer(
  examination: Examination,
  { name, fields, wanted }: Attempt,
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

/** No answer: perhaps it waits in a buffer for more to come. */
async function pokeFor(
  { visitor, examination, timing }: CommandSetting,
  connection: BrokerConnection,
  name: string,
): Promise<false> {
  const waited = seconds(visitor.timing.answerMs);
  if (connection.isClosed) {
    examination.find(name, { mistake: 'no-answer', seen: `${name} was answered by closing the connection` });
    return false;
  }
  await connection.send({ command: Command.Ping, id: visitor.id() });
  const after = await connection.next({ withinMs: timing.answerMs }).catch(() => undefined);
  if (after === undefined)
    examination.find(name, { mistake: 'no-answer', seen: `${name} was not answered within ${waited}` });
  else
    examination.find(name, {
      mistake: 'not-flushed',
      seen: `the answer to ${name} came only after a Ping was sent too: ${frameText(after)}`,
    });
  return false;
}
