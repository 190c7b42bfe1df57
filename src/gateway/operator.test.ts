// What the operator is told: answers when they are committed, messages as they were published, and a reason when the broker does not serve.
// Proves DASH on the gateway's side.

import { describe, expect, it } from 'vitest';
import { Priority } from '../model/priority.ts';
import { Command } from '../protocol/command.ts';
import { ack, publish, subscribe, TestedBroker } from '../testing/tested-broker.ts';
import type { BodyParts } from '../testing/wire-bytes.ts';
import { RequestRefused } from './operator-requests.ts';

const page = { offset: 0, limit: 50, maxBytes: 1_048_576 };

/** A broker with one client, which has sent these commands. */
async function brokerAfter(...commands: readonly BodyParts[]) {
  const tested = new TestedBroker();
  const client = await tested.connect();
  for (const command of commands) client.send(command);
  await tested.settle();
  return { tested, client, operator: tested.broker.operator };
}

/** What the operator is answered. */
async function answerOf<Answer>(tested: TestedBroker, question: Promise<Answer>): Promise<Answer> {
  await tested.settle();
  return question;
}

describe('messages', () => {
  it('are shown with payload, headers and time, in the text of the publisher [DASH-009, DASH-014]', async () => {
    const headers = [
      ['x-kind', 'order'],
      ['priority', 'High'],
    ] as const;
    const payload = '{"n": 12345678901234567890, "n":1.0}';
    const { tested, operator } = await brokerAfter({
      command: Command.Publish,
      id: 'm1',
      queue: 'q',
      payload,
      headers,
    });
    const [message] = await answerOf(tested, operator.listMessages('q', page));
    expect(message).toEqual({
      id: 'm1',
      queue: 'q',
      payload,
      acceptedWallAt: tested.environment.clock.wallNow(),
      headers: new Map(headers),
      version: 1,
      priority: Priority.High,
      sentCount: 0,
      isInFlight: false,
    });
    expect(await answerOf(tested, operator.readMessage('q', 'm1'))).toEqual(message);
  });

  it('have no payload when they were published without one', async () => {
    const { tested, operator } = await brokerAfter({ command: Command.Publish, id: 'm1', queue: 'q' });
    expect(await answerOf(tested, operator.readMessage('q', 'm1'))).toMatchObject({ payload: undefined });
  });

  it('are in flight until they are acknowledged', async () => {
    const { tested, client, operator } = await brokerAfter(subscribe('q'), publish('q', 'm1'));
    expect(await answerOf(tested, operator.readMessage('q', 'm1'))).toMatchObject({
      isInFlight: true,
      sentCount: 1,
    });
    client.send(ack('m1'));
    await tested.settle();
    expect(await answerOf(tested, operator.readMessage('q', 'm1'))).toBeUndefined();
  });
});

describe('changes', () => {
  it('remove one message, and delete a queue with the others [DASH-016, DASH-020]', async () => {
    const { tested, operator } = await brokerAfter(publish('q', 'm1'), publish('q', 'm2'));
    expect(await answerOf(tested, operator.removeMessage('q', 'm1'))).toBe(true);
    expect(await answerOf(tested, operator.removeMessage('q', 'm1'))).toBe(false);
    expect(await answerOf(tested, operator.queueInfo('q'))).toMatchObject({ messageCount: 1 });
    await answerOf(tested, operator.deleteQueue('q'));
    expect(await answerOf(tested, operator.queueInfo('q'))).toBeUndefined();
    expect(await answerOf(tested, operator.listQueues())).toEqual([]);
  });

  it('say why a message is not requeued', async () => {
    const { tested, operator } = await brokerAfter(publish('q', 'm1'));
    expect(await answerOf(tested, operator.requeueMessage('q', 'm1'))).toBe('notDeadLetter');
  });
});

describe('a question', () => {
  it('about a queue that does not exist is refused', async () => {
    const { tested, operator } = await brokerAfter();
    const asked = operator.listMessages('nowhere', page);
    const refusal = expect(asked).rejects.toBeInstanceOf(RequestRefused);
    await tested.settle();
    await refusal;
  });

  it('says why the broker does not serve', async () => {
    const tested = new TestedBroker();
    await expect(tested.broker.operator.listQueues()).rejects.toMatchObject({
      name: 'OutOfService',
      message: 'recovering from the store',
    });
  });
});
