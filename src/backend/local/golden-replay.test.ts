// The recorded conversations of an existing client, replayed against the broker: what that client sent then gets answers now that it
// accepts, though the broker behind them is another one. The answers are the recorded commands with the ids of what they answer; texts,
// times and the places of deliveries among the answers are free.

import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { ZlibCompressor } from '../../compression/zlib-compressor.ts';
import { commandName } from '../../protocol/command.ts';
import type { TestedCredentials } from '../../testing/tested-authentication.ts';
import { TestedBroker } from '../../testing/tested-broker.ts';
import { type Inflate, payloadOf, type ReceivedFrame, type WireClient } from '../../testing/wire-client.ts';
import { type RecordedEntry, recordedConnections } from '../../testing/wire-fixtures.ts';

type Frame = Extract<RecordedEntry, { readonly hex: string }>;

const flagNames = ['none', 'gzip', 'brotli'];
const inflate: Inflate = (flags, body) =>
  [() => body, () => gunzipSync(body), () => brotliDecompressSync(body)][flags]?.() ?? body;

/** One recorded connection and the broker's answers on it. */
class Replay {
  readonly entries: readonly RecordedEntry[];
  readonly frames: readonly Frame[];
  readonly answered: ReceivedFrame[] = [];
  client: WireClient | undefined;

  constructor(entries: readonly RecordedEntry[]) {
    this.entries = entries;
    this.frames = entries.filter((entry): entry is Frame => 'hex' in entry);
  }

  /** What the recorded broker sent, with the ids that this one must echo where that one made its own. */
  get expected(): readonly Frame[] {
    const ids = new Set(this.frames.filter(({ from }) => from === 'client').map(({ id }) => id));
    return this.frames.flatMap((frame, index) => {
      if (frame.from === 'client') return [];
      return [ids.has(frame.id) ? frame : { ...frame, id: this.frames[index - 1]?.id ?? '' }];
    });
  }
}

/** What the recorded broker was configured with; the others asked for no credentials. */
const credentials: Readonly<Record<string, TestedCredentials>> = {
  'users-and-permissions': { superuser: { username: 'vibemq', password: 'super-secret' } },
  token: { token: '0123456789abcdef0123456789abcdef' },
};

async function replay(title: string): Promise<readonly Replay[]> {
  const compressor = new ZlibCompressor();
  const tested = new TestedBroker({}, { compressor, credentials: credentials[title] });
  const replays = recordedConnections(title).map((entries) => new Replay(entries));
  const turns = replays.flatMap((on) => on.entries.map((entry) => ({ on, entry })));
  turns.sort((a, b) => a.entry.seq - b.entry.seq);
  for (const { on, entry } of turns) {
    if (entry.from === 'broker') continue;
    const passed = on.expected.filter((frame) => frame.seq < entry.seq && !isOptional(frame)).length;
    expect(on.answered.length).toBeGreaterThanOrEqual(passed);
    on.client ??= tested.attach({ inflate });
    if ('hex' in entry) on.client.sendRaw(Buffer.from(entry.hex, 'hex'));
    else on.client.stream.end();
    await tested.settle();
    on.answered.push(...on.client.take());
  }
  return replays;
}

/** This broker closes the connection after a Disconnect that comes before the handshake, which is as right (CONN-004). */
const isOptional = ({ errorCode }: Frame): boolean => errorCode === 'NOT_AUTHENTICATED';
const isDelivery = (name: string | undefined): boolean => name === 'Deliver';
const nameOf = ({ command }: ReceivedFrame): string => commandName(command) ?? String(command);

const titles = [
  'queues-publish-deliver',
  'compression',
  'keep-alive',
  'queue-declarations',
  'users-and-permissions',
  'token',
];

describe.each(titles)('%s', (title) => {
  it('is answered with the recorded commands and the ids of what they answer [CONN-006, CONN-007, CONN-008]', async () => {
    for (const { expected, answered } of await replay(title)) {
      const wanted = expected.filter((frame) => !isDelivery(frame.command) && !isOptional(frame));
      const got = answered.filter((frame) => !isDelivery(nameOf(frame)));
      expect(got.map((frame) => `${nameOf(frame)} ${frame.id}`)).toEqual(
        wanted.map(({ command, id }) => `${command} ${id}`),
      );
    }
  });

  it('is delivered with the recorded ids, payloads, headers and compression [DELIVERY-050, DELIVERY-052, DELIVERY-054]', async () => {
    for (const { expected, answered } of await replay(title)) {
      const wanted = expected.filter(({ command }) => isDelivery(command));
      const got = answered.filter((frame) => isDelivery(nameOf(frame)));
      expect(
        got.map((frame) => ({
          id: frame.id,
          queue: frame.queue,
          payload: payloadOf(frame),
          headers: frame.headers,
          compression: flagNames[frame.flags],
        })),
      ).toEqual(
        wanted.map(({ id, queue, payload, headers, compression }) => ({
          id,
          queue,
          payload,
          headers,
          compression,
        })),
      );
    }
  });

  it('ends with the connection closed, and with nothing over 1 MiB, which that client cannot read [FRAME-018]', async () => {
    for (const { client, answered } of await replay(title)) {
      expect(client?.isOver).toBe(true);
      expect(Math.max(...answered.map(({ bodyLength }) => bodyLength))).toBeLessThanOrEqual(1_048_576);
    }
  });
});

describe.each(['queues-publish-deliver', 'queue-declarations'])('%s', (title) => {
  it('gets the recorded answers about queues, except for times and dead letter queues that exist from the start [QUEUE-021, QUEUE-022, QUEUE-023, QUEUE-028]', async () => {
    for (const { expected, answered } of await replay(title)) {
      for (const { command, id, payload } of expected) {
        if (isDelivery(command) || payload === '') continue;
        const got = answered.find((frame) => frame.id === id && nameOf(frame) === command);
        expect(withoutTimes(payloadOf(got))).toEqual(withoutTimes(payload));
      }
    }
    expect.hasAssertions();
  });
});

function withoutTimes(payload: string): unknown {
  const value: unknown = JSON.parse(payload);
  if (Array.isArray(value)) return value.filter((name) => name !== 'orders.failed').sort();
  return typeof value === 'object' && value !== null && 'createdAt' in value
    ? { ...value, createdAt: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,7})?Z$/.test(String(value.createdAt)) }
    : value;
}

describe.each(['users-and-permissions', 'token'])('%s', (title) => {
  it('gets the recorded errors, and the recorded answers but for times and the order of users [AUTH-001, AUTH-002, AUTH-003, AUTH-004, AUTH-005, AUTH-006, AUTH-021, AUTH-023, AUTH-025, AUTH-034, AUTH-035, AUTH-036, AUTH-037, AUTH-038, AUTH-039, AUTH-040, AUTH-041, AUTH-042, AUTH-043, AUTH-045, AUTH-048, AUTH-049, AUTH-050]', async () => {
    for (const { expected, answered } of await replay(title)) {
      for (const frame of expected.filter((one) => !isOptional(one))) {
        const got = answered.find(({ id }) => id === frame.id);
        expect({ command: nameOfAnswer(got), queue: got?.queue, code: got?.errorCode ?? '' }).toEqual({
          command: frame.command,
          queue: frame.queue,
          code: frame.errorCode ?? '',
        });
        expect(withoutCreation(payloadOf(got))).toEqual(withoutCreation(frame.payload));
      }
    }
    expect.hasAssertions();
  });
});

const nameOfAnswer = (frame: ReceivedFrame | undefined): string => (frame === undefined ? '' : nameOf(frame));

/** A list of users sorted by name, each with the kind of its time; anything else as it is. */
function withoutCreation(payload: string): unknown {
  const value: unknown = payload === '' ? '' : JSON.parse(payload);
  if (!Array.isArray(value) || !payload.includes('createdAt')) return value;
  const users = value as { readonly username: string; readonly createdAt: number }[];
  const sorted = users.toSorted((a, b) => a.username.localeCompare(b.username));
  return sorted.map((user) => ({ ...user, createdAt: Number.isInteger(user.createdAt) }));
}
