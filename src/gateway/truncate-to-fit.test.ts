// Frames that the broker creates, with a small maximum frame size.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodedBodyLength } from '../protocol/encode.ts';
import { defaultLimits } from '../protocol/limits.ts';
import { testSettings } from '../testing/broker-harness.ts';
import { runsOf } from '../testing/property-runs.ts';
import { publish, subscribe, TestedBroker } from '../testing/tested-broker.ts';
import { headersOf } from '../testing/wire-client.ts';
import { truncateToFit } from './truncate-to-fit.ts';

const freshId = (): string => 'f'.repeat(32);

describe('fields', () => {
  const error = { command: 99, id: 'i', queue: 'q', errorCode: 'INVALID_MESSAGE', errorMessage: 'why' };

  it('that fit are left as they are', () => {
    expect(truncateToFit(error, encodedBodyLength(error), freshId)).toBe(error);
  });

  it('of an Error that does not fit lose queue and text, and keep id and code [FRAME-018, CONN-008]', () => {
    const fields = truncateToFit(error, encodedBodyLength(error) - 1, freshId);
    expect(fields).toEqual({ command: 99, id: 'i', errorCode: 'INVALID_MESSAGE' });
  });

  it('of an Error whose id alone is too long get a fresh one [FRAME-018, CONN-009]', () => {
    const fields = truncateToFit({ ...error, id: 'i'.repeat(300) }, 256, freshId);
    expect(fields).toEqual({ command: 99, id: freshId(), errorCode: 'INVALID_MESSAGE' });
  });

  it('of a ConnectAck keep what was agreed', () => {
    const headers = new Map([
      ['serverVersion', 'v'.repeat(200)],
      ['negotiated-compression', 'gzip'],
    ]);
    expect(truncateToFit({ command: 1, id: 'c', headers }, 100, freshId).headers).toEqual(
      new Map([['negotiated-compression', 'gzip']]),
    );
    expect(
      truncateToFit({ command: 1, id: 'c', headers: new Map([['a', 'b'.repeat(99)]]) }, 50, freshId),
    ).toEqual({
      command: 1,
      id: 'c',
    });
  });
});

describe('a broker whose largest frame is 256 bytes', () => {
  const limits = { ...defaultLimits, maxMessageSizeBytes: 256, maxDecompressedSizeBytes: 256 };
  const broker = { ...testSettings, maxContentBytes: 256 };

  it('sends no larger one, whatever it is asked [FRAME-018]', async () => {
    const commands = fc.constantFrom(0, 10, 20, 22, 24, 30, 40, 41, 42, 43, 77);
    const text = fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 200 });
    const queues = fc.constantFrom('', 'q', 'q'.repeat(180), 'a b');
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(commands, text, queues), { maxLength: 20 }), async (frames) => {
        const tested = new TestedBroker({ limits, broker });
        const client = tested.attach();
        client.send({ command: 0, id: 'c'.repeat(200), headers: [['supported-compression', 'gzip']] });
        client.send(...frames.map(([command, id, queue]) => ({ command, id, queue })));
        await tested.settle();
        const received = client.take();
        expect(Math.max(...received.map(({ bodyLength }) => bodyLength))).toBeLessThanOrEqual(256);
        expect(headersOf(received[0])['negotiated-compression']).toBe('gzip');
      }),
      { numRuns: runsOf(50) },
    );
  });

  it('answers a list that does not fit MESSAGE_TOO_LARGE [FRAME-025]', async () => {
    const tested = new TestedBroker({ limits, broker });
    const client = await tested.connect();
    await tested.exchange(
      client,
      subscribe('a'.repeat(100)),
      subscribe('b'.repeat(100)),
      subscribe('c'.repeat(100)),
    );
    expect(await tested.exchange(client, { command: 43, id: 'l' })).toEqual(['Error l MESSAGE_TOO_LARGE']);
  });

  it.each([0, 1, 2, 3])(
    'refuses a message that would not fit under the name of its dead letter queue in mode %i [FRAME-021]',
    async (mode) => {
      const tested = new TestedBroker({ limits, broker });
      const client = await tested.connect();
      await tested.exchange(client, {
        command: 40,
        id: 'c',
        queue: 'q',
        payload: JSON.stringify({ mode, enableDeadLetterQueue: true }),
      });
      const sized = (bytes: number) => publish('q', 'm', { payload: JSON.stringify('x'.repeat(bytes - 2)) });
      const fits = 256 - (2 + 3 + 3 + 4 + 2) - '.dlq'.length;
      expect(await tested.exchange(client, sized(fits + 1))).toEqual(['Error m q MESSAGE_TOO_LARGE']);
      expect(await tested.exchange(client, sized(fits))).toEqual(['PublishAck m q']);
    },
  );
});
