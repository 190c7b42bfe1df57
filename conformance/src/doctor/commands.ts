// One Ping, one queue and one Publish, each with its answer: that it comes, in time, without being asked twice, and with the right id.
// Areas: CONN, QUEUE, PUBLISH.
import { Command } from '../wire/command.ts';
import type { ExchangeSetting, ExpectedAnswerTo } from './awaited-frames.ts';
import { requestAnswer } from './awaited-frames.ts';

/** True when every answer was the right one, however late. */
export async function tryCommands(setting: ExchangeSetting, queue: string): Promise<boolean> {
  const { client, examination } = setting;
  const connection = await client.connect();
  const questions: readonly ExpectedAnswerTo[] = [
    { name: 'ping', fields: { command: Command.Ping, id: client.id() }, wanted: 'Pong' },
    {
      name: 'queue',
      fields: { command: Command.CreateQueue, id: client.id(), queue },
      wanted: 'CreateQueue',
    },
    {
      name: 'publish',
      fields: { command: Command.Publish, id: client.id(), queue, payload: '{"doctor":true}' },
      wanted: 'PublishAck',
    },
  ];
  for (const question of questions) {
    if (!(await requestAnswer(setting, connection, question))) return false;
  }
  examination.ok('commands', 'Ping, CreateQueue and Publish are answered');
  return true;
}
