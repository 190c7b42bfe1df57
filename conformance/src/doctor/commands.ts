// One Ping, one queue and one Publish, each with its answer: that it comes, in time, without being asked twice, and with the right id.
// Areas: CONN, QUEUE, PUBLISH.
import { Command } from '../wire/command.ts';
import type { AskSetting, Question } from './asking.ts';
import { ask } from './asking.ts';

/** True when every answer was the right one, however late. */
export async function tryCommands(setting: AskSetting, queue: string): Promise<boolean> {
  const { visitor, examination } = setting;
  const connection = await visitor.connect();
  const questions: readonly Question[] = [
    { name: 'ping', fields: { command: Command.Ping, id: visitor.id() }, wanted: 'Pong' },
    {
      name: 'queue',
      fields: { command: Command.CreateQueue, id: visitor.id(), queue },
      wanted: 'CreateQueue',
    },
    {
      name: 'publish',
      fields: { command: Command.Publish, id: visitor.id(), queue, payload: '{"doctor":true}' },
      wanted: 'PublishAck',
    },
  ];
  for (const question of questions) {
    if (!(await ask(setting, connection, question))) return false;
  }
  examination.ok('commands', 'Ping, CreateQueue and Publish are answered');
  return true;
}
