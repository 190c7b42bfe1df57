// The frame that answers a command, for each answer of the core.

import { describe, expect, it } from 'vitest';
import type { AnsweredEffect } from '../../broker/interface/effect.ts';
import { defaultQueueOptions } from '../../model/queue-options.ts';
import { Command } from '../../protocol/command.ts';
import { encodedBodyLength } from '../../protocol/encode.ts';
import { answerFields, refusalFields } from './answers.ts';

const maxBodyBytes = 1_048_576;

function answered(command: number, result: AnsweredEffect['result'], maxBytes = maxBodyBytes) {
  return answerFields({ command, id: 'i', queue: 'q' }, result, maxBytes);
}

const info = {
  name: 'q',
  messageCount: 0,
  subscriberCount: 0,
  createdWallAt: 0,
  options: defaultQueueOptions,
};

describe('a positive answer', () => {
  it.each([
    [Command.Publish, Command.PublishAck],
    [Command.Subscribe, Command.SubscribeAck],
    [Command.Unsubscribe, Command.UnsubscribeAck],
    [Command.CreateQueue, Command.CreateQueue],
    [Command.DeleteQueue, Command.DeleteQueue],
  ])('to command %d is command %d with its id and queue [CONN-006, CONN-010]', (command, answer) => {
    expect(answered(command, undefined)).toEqual({ command: answer, id: 'i', queue: 'q' });
  });

  it('to QueueInfo holds the info, or no payload where there is no queue [QUEUE-021, QUEUE-024]', () => {
    const fields = answered(Command.QueueInfo, info);
    expect(JSON.parse(String(fields.payload))).toMatchObject({ name: 'q' });
    expect(answered(Command.QueueInfo, null)).not.toHaveProperty('payload');
  });

  it('to ListQueues holds the names, none of them included [QUEUE-028]', () => {
    const list = (names: readonly string[]) => String(answered(Command.ListQueues, names).payload);
    expect(list(['a', '订单', 'c'])).toBe('["a","订单","c"]');
    expect(list([])).toBe('[]');
  });

  it('that does not fit is MESSAGE_TOO_LARGE, and one that just fits is not [FRAME-018, FRAME-025]', () => {
    const names = ['n'.repeat(1000)];
    const fits = encodedBodyLength(answered(Command.ListQueues, names));
    expect(answered(Command.ListQueues, names, fits)).toMatchObject({
      command: Command.ListQueues,
    });
    expect(answered(Command.ListQueues, names, fits - 1)).toMatchObject({
      command: Command.Error,
      id: 'i',
      queue: 'q',
      errorCode: 'MESSAGE_TOO_LARGE',
    });
  });
});

describe('a refusal', () => {
  it('is an Error with the id and queue of its command, with code and text [CONN-008, ERROR-002, ERROR-018]', () => {
    const token = { command: Command.Publish, id: 'i', queue: 'q' };
    expect(
      refusalFields({ kind: 'refused', connection: 1, token, code: 'QUEUE_FULL', text: 'Queue q is full.' }),
    ).toEqual({
      command: 99,
      id: 'i',
      queue: 'q',
      errorCode: 'QUEUE_FULL',
      errorMessage: 'Queue q is full.',
    });
  });
});
