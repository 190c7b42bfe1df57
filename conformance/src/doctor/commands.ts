// Tries Ping, CreateQueue and Publish: each answer must come, in time, without another frame before it, and with the right id.
// Areas: CONN, QUEUE, PUBLISH.
import { Command } from '../wire/command.ts';
import type { ExchangeSetting, ExpectedAnswerTo } from './awaited-frames.ts';
import { requestAnswer } from './awaited-frames.ts';

/** True if every answer was right, also if it was late. */
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
