// The input of the core for each command, and the commands that are refused before the core.

import { describe, expect, it } from 'vitest';
import { Priority } from '../../model/priority.ts';
import { Command, commandsOfClient } from '../../protocol/command.ts';
import { decodeMessage } from '../../protocol/decode.ts';
import { encodeBody } from '../../protocol/encode.ts';
import { isFault } from '../../protocol/fault.ts';
import type { MessageFields } from '../../protocol/message.ts';
import { translateCommand } from './commands.ts';

function translate(fields: MessageFields, options = { validatePayload: true }) {
  const body = encodeBody(fields);
  const message = decodeMessage(body);
  if (isFault(message)) throw new Error('The test encodes something that cannot be decoded.');
  return translateCommand(7, message, { bytes: body, start: 0, end: body.length, isAlone: false }, options);
}

function inputOf(fields: MessageFields, options = { validatePayload: true }) {
  const input = translate(fields, options);
  if (input.kind === 'barrier') throw new Error('Refused.');
  return input;
}

const headers = (pairs: Readonly<Record<string, string>>) => new Map(Object.entries(pairs));

describe('a command', () => {
  it.each([
    [Command.Unsubscribe, 'unsubscribe'],
    [Command.Subscribe, 'subscribe'],
    [Command.CreateQueue, 'createQueue'],
    [Command.DeleteQueue, 'deleteQueue'],
    [Command.QueueInfo, 'queueInfo'],
  ])('of number %d is %s, with a token to answer it by', (command, kind) => {
    expect(inputOf({ command, id: 'i', queue: 'q' })).toEqual({
      kind,
      connection: 7,
      token: { command, id: 'i', queue: 'q' },
      queue: 'q',
    });
  });

  it('of number 43 lists queues and needs none', () => {
    expect(inputOf({ command: Command.ListQueues, id: 'i' })).toEqual({
      kind: 'listQueues',
      connection: 7,
      token: { command: 43, id: 'i', queue: '' },
    });
  });

  it.each([
    Command.Publish,
    Command.Subscribe,
    Command.Unsubscribe,
    Command.CreateQueue,
    Command.DeleteQueue,
    Command.QueueInfo,
  ])('of number %d without a queue is refused with INVALID_QUEUE [BODY-006, ERROR-004]', (command) => {
    expect(translate({ command, id: 'i', payload: Buffer.from('{') })).toMatchObject({
      kind: 'barrier',
      token: { fields: { command: Command.Error, id: 'i', errorCode: 'INVALID_QUEUE' } },
    });
  });

  it('is known here whichever the session lets through', () => {
    const answeredBySession: readonly number[] = [Command.Connect, Command.Disconnect, Command.Ping];
    for (const command of commandsOfClient) {
      if (answeredBySession.includes(command)) continue;
      expect(() => translate({ command, id: 'i', queue: 'q' })).not.toThrow();
    }
    expect(() => translate({ command: 99, id: 'i', queue: 'q' })).toThrow('let through');
  });
});

describe('a publish', () => {
  const publish = { command: Command.Publish, id: 'm1', queue: 'q' };

  it.each([
    ['Low', Priority.Low],
    ['NORMAL', Priority.Normal],
    ['high', Priority.High],
    ['cRiTiCaL', Priority.Critical],
  ])('with header priority %s has that priority [PUBLISH-021]', (priority, value) => {
    expect(inputOf({ ...publish, headers: headers({ priority }) })).toMatchObject({ priority: value });
  });

  it.each(['urgent', '2', ' High', 'constructor', 'High,Low'])(
    'with priority %j counts as Normal [PUBLISH-023]',
    (priority) => {
      expect(inputOf({ ...publish, headers: headers({ priority }) })).toMatchObject({ priority: 1 });
    },
  );

  it('without header priority is Normal, and the header is not Priority [PUBLISH-022, BODY-019]', () => {
    expect(inputOf(publish)).toMatchObject({ priority: Priority.Normal });
    expect(inputOf({ ...publish, headers: headers({ Priority: 'High' }) })).toMatchObject({ priority: 1 });
  });

  it('says what is wrong with its payload, for the core to refuse it in its turn [PUBLISH-014, PUBLISH-016, PUBLISH-017]', () => {
    for (const payload of ['{', '{} x', '\ufeff{}', '['.repeat(65) + ']'.repeat(65), 'nul']) {
      const input = inputOf({ ...publish, payload: Buffer.from(payload) });
      expect(input).toMatchObject({ invalid: expect.stringMatching(/not a JSON text: .* at byte \d+/) });
    }
  });

  it.each(['{}', '[]', '"text"', '42', 'true', 'null', '\r\n{}', '\t1', '['.repeat(64) + ']'.repeat(64), ''])(
    'may hold %j [PUBLISH-013, PUBLISH-018, PUBLISH-020]',
    (payload) => {
      expect(inputOf({ ...publish, payload: Buffer.from(payload) })).not.toHaveProperty('invalid');
    },
  );

  it('may hold anything where payloads are not looked at', () => {
    const input = inputOf({ ...publish, payload: Buffer.from('{') }, { validatePayload: false });
    expect(input).not.toHaveProperty('invalid');
  });
});

describe('a subscribe', () => {
  const subscribe = { command: Command.Subscribe, id: 's', queue: 'q' };

  it('may fix its window [DELIVERY-046]', () => {
    expect(inputOf({ ...subscribe, headers: headers({ maxInFlight: '20' }) })).toMatchObject({
      maxInFlight: 20,
    });
    expect(inputOf({ ...subscribe, headers: headers({ maxInFlight: '2147483647' }) })).toMatchObject({
      maxInFlight: 2_147_483_647,
    });
    expect(inputOf(subscribe)).not.toHaveProperty('maxInFlight');
  });

  it.each(['0', '-1', '1.5', 'many', '1e3', '01', '2147483648', '٣'])(
    'refuses the window %j',
    (maxInFlight) => {
      expect(translate({ ...subscribe, headers: headers({ maxInFlight }) })).toMatchObject({
        kind: 'barrier',
        token: {
          fields: {
            id: 's',
            queue: 'q',
            errorCode: 'INVALID_MESSAGE',
            errorMessage: expect.stringContaining('maxInFlight'),
          },
        },
      });
    },
  );
});

describe('an ack', () => {
  const ack = { command: Command.Ack, id: 'a' };

  it('names its message by its own id, or by header messageId [DELIVERY-065, DELIVERY-066]', () => {
    expect(inputOf(ack)).toEqual({ kind: 'acknowledge', connection: 7, id: 'a' });
    expect(inputOf({ ...ack, headers: headers({ messageId: 'm1' }) })).toEqual({
      kind: 'acknowledge',
      connection: 7,
      id: 'm1',
    });
  });

  it('may name the queue [DELIVERY-067]', () => {
    expect(inputOf({ ...ack, queue: 'q' })).toEqual({
      kind: 'acknowledge',
      connection: 7,
      id: 'a',
      queue: 'q',
    });
  });

  it.each([
    ['HandlerException', 'HandlerException'],
    ['DeserializationError', 'DeserializationError'],
    ['whatever', 'HandlerException'],
    ['deserializationerror', 'HandlerException'],
  ])(
    'with failureReason %s is a negative one: %s [NACK-001, NACK-004, DELIVERY-067]',
    (failureReason, reason) => {
      expect(inputOf({ ...ack, queue: 'q', headers: headers({ failureReason, messageId: 'm1' }) })).toEqual({
        kind: 'negativeAcknowledge',
        connection: 7,
        id: 'm1',
        queue: 'q',
        reason,
      });
    },
  );
});

describe('a CreateQueue', () => {
  const create = { command: Command.CreateQueue, id: 'c', queue: 'q' };

  it('without payload has no options of its own [QUEUE-008]', () => {
    expect(inputOf(create)).not.toHaveProperty('options');
  });

  it('passes options, or why they are invalid, to the core, which decides in order [QUEUE-041]', () => {
    expect(inputOf({ ...create, payload: Buffer.from('{"maxQueueSize":0}') })).toMatchObject({
      options: { maxQueueSize: 0 },
    });
    expect(inputOf({ ...create, payload: Buffer.from('{"mode":9}') })).toMatchObject({
      invalid: expect.stringContaining('mode'),
    });
  });
});
