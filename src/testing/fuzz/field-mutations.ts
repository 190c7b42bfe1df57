// Changes to a message that know what its fields mean: texts, JSON, headers, command and version, and lengths that lie. All chance comes
// from the generator that is given.

import { Command } from '../../protocol/command.ts';
import type { Random } from '../simulation/random.ts';
import { type BodyParts, bodyBytes, type TextBytes } from '../wire-bytes.ts';

/** A changed message. */
export function mutateFields(parts: BodyParts, random: Random): BodyParts {
  switch (random.pick(fieldKinds)) {
    case 'command':
      return { ...parts, command: anyCommand(random) };
    case 'version':
      return { ...parts, version: random.whole(0, 255) };
    case 'id':
      return { ...parts, id: anyText(random) };
    case 'queue':
      return { ...parts, queue: anyText(random) };
    case 'payload':
      return { ...parts, payload: anyPayload(random) };
    case 'headers':
      return { ...parts, headers: anyHeaders(parts.headers ?? [], random) };
    case 'error':
      return { ...parts, errorCode: anyText(random), errorMessage: anyText(random) };
    case 'trailing':
      return { ...parts, trailing: Buffer.alloc(random.whole(1, 20), random.whole(0, 255)) };
  }
}

const fieldKinds = ['command', 'version', 'id', 'queue', 'payload', 'headers', 'error', 'trailing'] as const;

function anyCommand(random: Random): number {
  return random.chance(0.7) ? random.pick(Object.values(Command)) : random.whole(0, 255);
}

const texts: readonly TextBytes[] = [
  ...[
    '',
    ' ',
    '\0',
    'fuzz.a',
    'fuzz.b',
    'p-1',
    '*',
    '..',
    '../..',
    '__proto__',
    'a\nb',
    '\ufeff',
    '\ufffd',
    '订单',
    '📦',
  ],
  ...['i'.repeat(255), 'i'.repeat(256), 'i'.repeat(257), 'é'.repeat(128), 'é'.repeat(129)],
  // UTF-8 that is none: a lone continuation, a sequence that breaks off, an overlong one, half a surrogate pair, beyond U+10FFFF.
  ...['80', 'e282', 'c080', 'e08080', 'eda080', 'f4908080', 'ff', '61c3', 'f09f93'].map((hex) =>
    Buffer.from(hex, 'hex'),
  ),
];

/** Drawn seldom: the naive decoder takes most of its time for them. */
const longTexts: readonly TextBytes[] = ['v'.repeat(4096), 'v'.repeat(4097), 'x'.repeat(65_535)];
const LONG_SHARE = 0.02;

function anyText(random: Random): TextBytes {
  return random.pick(random.chance(LONG_SHARE) ? longTexts : texts);
}

const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;

const payloads: readonly TextBytes[] = [
  ...[
    '',
    '1',
    'null',
    '"a"',
    '{}',
    '[]',
    '{"a":1,"a":2}',
    '{"a":',
    '[1,]',
    '01',
    '1e999',
    '-',
    '"\\u12',
    '"\\ud800"',
    '\ufeff1',
  ],
  ...['{"__proto__":1}', ' 1 ', '1 1', nested(64), nested(65)],
  ...[
    '{"mode":9}',
    '{"mode":"roundrobin"}',
    '{"maxQueueSize":0}',
    '{"maxQueueSize":2147483648}',
    '{"maxQueueSize":1e300}',
  ],
  ...['{"messageTtl":"-00:00:01"}', '{"messageTtl":"99999999.00:00:00"}', '{"deadLetterQueueName":"fuzz.b"}'],
  ...['{"overflowStrategy":2,"maxQueueSize":1}', '{"maxRetryAttempts":-1}', '{"enableDeadLetterQueue":true}'],
  ...['22ff22', '22c022', '00', 'fffe', '7b0022'].map((hex) => Buffer.from(hex, 'hex')),
];

const longPayloads: readonly TextBytes[] = [nested(5000), '"'.repeat(1000), `"${'x'.repeat(70_000)}"`];

function anyPayload(random: Random): TextBytes {
  return random.pick(random.chance(LONG_SHARE) ? longPayloads : payloads);
}

type Pairs = NonNullable<BodyParts['headers']>;

const headerNames = [
  'priority',
  'maxInFlight',
  'messageId',
  'failureReason',
  'supported-compression',
  'deliveryAttempts',
  '',
];
const headerValues = [
  '',
  '0',
  '-1',
  '1e9',
  'Critical',
  'gzip',
  'HandlerException',
  'DeserializationError',
  'p-1',
];

function anyHeaders(headers: Pairs, random: Random): Pairs {
  const pair = [
    random.chance(0.7) ? random.pick(headerNames) : anyText(random),
    random.chance(0.7) ? random.pick(headerValues) : anyText(random),
  ] as const;
  switch (random.pick(['none', 'one', 'twice', 'fifty', 'many'] as const)) {
    case 'none':
      return [];
    case 'one':
      return [...headers, pair];
    case 'twice':
      return [...headers, pair, pair];
    case 'fifty':
      return numbered(random.pick([50, 51]));
    case 'many':
      return numbered(random.whole(52, 400));
  }
}

function numbered(count: number): Pairs {
  return Array.from({ length: count }, (_, index) => [`h${index}`, 'v'] as const);
}

/** The body of a message, in which one length or count says something else than what follows. */
export function bodyWithLie(parts: BodyParts, random: Random): Buffer {
  const body = bodyBytes(parts);
  const { at, byteCount } = random.pick(lengthFields(parts));
  const truth = body.readUIntBE(at, byteCount);
  const top = 256 ** byteCount - 1;
  const lie = random.pick([
    0,
    1,
    truth - 1,
    truth + 1,
    truth * 2,
    body.length - at - byteCount,
    top,
    (top + 1) / 2,
    top >> 1,
  ]);
  body.writeUIntBE(Math.min(top, Math.max(0, Math.floor(lie))), at, byteCount);
  return body;
}

type LengthField = { readonly at: number; readonly byteCount: 2 | 4 };

/** Where the lengths and counts of a written body stand. */
function lengthFields({
  id = 'id-1',
  queue = '',
  payload = '',
  headers = [],
}: BodyParts): readonly LengthField[] {
  const fields: LengthField[] = [];
  let at = 2;
  const add = (byteCount: 2 | 4, length: number): void => {
    fields.push({ at, byteCount });
    at += byteCount + length;
  };
  const lengthOf = (text: TextBytes): number => Buffer.from(text as Uint8Array).length;
  add(2, lengthOf(id));
  add(2, lengthOf(queue));
  add(4, lengthOf(payload));
  add(2, 0);
  for (const text of headers.flat()) add(2, lengthOf(text));
  return fields;
}
