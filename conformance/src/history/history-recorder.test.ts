// What a history keeps of the frames of a connection, where the frames alone could be taken for something else.
import { expect, it } from 'vitest';
import { Command } from '../wire/command.ts';
import type { ReceivedFrame } from '../wire/frame.ts';
import { HistoryRecorder } from './history-recorder.ts';

function frame(fields: { readonly command: number; readonly errorCode?: string }): ReceivedFrame {
  const head = { id: 'm', queue: '', payload: Buffer.from('1'), ...fields };
  return head as unknown as ReceivedFrame;
}

const publish = { command: Command.Publish, id: 'm', queue: 'orders', payload: '1' };

it.each([
  ['published', { command: Command.PublishAck }],
  ['refused', { command: Command.Error, errorCode: 'QUEUE_FULL' }],
])('a publisher that has acknowledged its own message before the answer comes: %s', (kind, answer) => {
  const recorder = new HistoryRecorder(() => 0);
  recorder.begin();
  recorder.sent('A', publish);
  recorder.received('A', frame({ command: Command.Deliver }));
  recorder.sent('A', { command: Command.Ack, id: 'm' });
  recorder.received('A', frame(answer));
  expect(recorder.operations.at(-1)).toMatchObject({ kind, queue: 'orders', id: 'm' });
});
