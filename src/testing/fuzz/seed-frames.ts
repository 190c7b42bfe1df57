// What the fuzzer starts from: the recorded frames as fields, the corpus of malformed frames as bytes, and one frame of each command that
// was never recorded. Reads fixtures/ as data.

import { Command, type CommandName } from '../../protocol/command.ts';
import type { BodyParts } from '../wire-bytes.ts';
import { malformedBytes, malformedCases, recordedFrames } from '../wire-fixtures.ts';

export type Seeds = {
  /** Intact messages, uncompressed. */
  readonly messages: readonly BodyParts[];
  /** Whole frames, malformed in one way each. */
  readonly malformed: readonly Buffer[];
};

/** Longer ones take most of the time and reach nothing that a small bomb does not reach. */
const MAX_MALFORMED_BYTES = 16_384;

export function readSeeds(): Seeds {
  const recorded = recordedFrames().map(
    ({ version, command, id, queue, payload, headers, errorCode, errorMessage }): BodyParts => ({
      ...{ version, command: Command[command as CommandName], id, queue, payload, headers },
      ...(errorCode === undefined ? {} : { errorCode, errorMessage: errorMessage ?? '' }),
    }),
  );
  const malformed = (['frames', 'bodies', 'found'] as const)
    .flatMap((name) => malformedCases(name))
    .map(malformedBytes)
    .filter(({ length }) => length <= MAX_MALFORMED_BYTES);
  return { messages: [...recorded, ...unrecorded], malformed };
}

const options = (fields: object): string => JSON.stringify(fields);

const unrecorded: readonly BodyParts[] = [
  {
    command: Command.Publish,
    id: 'p-1',
    queue: 'fuzz.a',
    payload: '{"n":1}',
    headers: [['priority', 'High']],
  },
  { command: Command.Publish, id: 'p-2', queue: 'fuzz.b', payload: '[1,2,[3,{"a":"é📦"}]]' },
  { command: Command.Subscribe, id: 's-1', queue: 'fuzz.a', headers: [['maxInFlight', '4']] },
  { command: Command.Subscribe, id: 's-2', queue: 'fuzz.b' },
  { command: Command.Unsubscribe, id: 'u-1', queue: 'fuzz.a' },
  { command: Command.Ack, id: 'p-1' },
  { command: Command.Ack, id: 'a-1', queue: 'fuzz.a', headers: [['messageId', 'p-1']] },
  { command: Command.Ack, id: 'p-2', headers: [['failureReason', 'HandlerException']] },
  {
    command: Command.CreateQueue,
    id: 'c-1',
    queue: 'fuzz.b',
    payload: options({ mode: 1, maxQueueSize: 3, overflowStrategy: 2, messageTtl: '00:00:05' }),
  },
  {
    command: Command.CreateQueue,
    id: 'c-2',
    queue: 'fuzz.c',
    payload: options({
      mode: 'PriorityBased',
      enableDeadLetterQueue: true,
      overflowStrategy: 'RedirectToDlq',
    }),
  },
  { command: Command.DeleteQueue, id: 'd-1', queue: 'fuzz.b' },
  { command: Command.QueueInfo, id: 'i-1', queue: 'fuzz.a' },
  { command: Command.ListQueues, id: 'l-1' },
  { command: Command.Ping, id: 'ping' },
];
