// One connection on the broker's side: what each sequence of frames leads to, in order.

import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { ErrorCode } from '../model/error-code.ts';
import {
  Command,
  commandsOfAdministration,
  commandsOfBrokerOnly,
  commandsOfClient,
} from '../protocol/command.ts';
import { defaultLimits } from '../protocol/limits.ts';
import { noHeaders } from '../protocol/message.ts';
import { acceptAll, describeEvent, refuseAll, SessionDriver } from '../testing/session-driver.ts';
import { type BodyParts, bodyBytes, frameBytes } from '../testing/wire-bytes.ts';
import { type MalformedCase, malformedBytes, malformedCases } from '../testing/wire-fixtures.ts';
import { ServerSession, type ServerSessionOptions } from './server-session.ts';

const connect = frame({ command: Command.Connect, id: 'c' });
const ping = frame({ command: Command.Ping, id: 'p' });
const disconnect = frame({ command: Command.Disconnect, id: 'd' });
const publish = frame({ command: Command.Publish, id: 'm-1', queue: 'orders', payload: '1' });

function frame(parts: BodyParts): Buffer {
  return frameBytes(bodyBytes(parts));
}

function texts(driver: SessionDriver, ...chunks: readonly Buffer[]): string[] {
  return driver.feed(...chunks).map(describeEvent);
}

/** The cases of a file, each with a title that ends with its own requirement and those that every one of them shows. */
function named(
  file: 'frames' | 'bodies',
  outcome: string,
  shown: readonly string[],
): readonly (readonly [string, MalformedCase])[] {
  return malformedCases(file).map((malformed) => {
    const ids = [malformed.requirement, ...shown];
    ids.push(malformed.id === undefined ? 'CONN-009' : 'CONN-008');
    if (file === 'bodies') ids.push(...(isTruncated(malformed) ? ['BODY-030', 'BODY-031'] : ['BODY-032']));
    if (malformed.closes) ids.push(malformed.code === 'MESSAGE_TOO_LARGE' ? 'FRAME-011' : 'FRAME-012');
    return [`${malformed.name} ${outcome} [${ids.join(', ')}]`, malformed];
  });
}

/** What is no truncated body breaks a field rule. */
function isTruncated({ requirement }: MalformedCase): boolean {
  return requirement === 'BODY-029' || requirement === 'BODY-010';
}

function connected(options: Partial<ServerSessionOptions> = {}): SessionDriver {
  const driver = new SessionDriver(options);
  expect(texts(driver, connect)).toEqual(['answer 1 c']);
  return driver;
}

describe('before Connect', () => {
  const refused = [...commandsOfClient, ...commandsOfBrokerOnly, ...commandsOfAdministration, 77].filter(
    (command) => command !== Command.Connect && command !== Command.Ping && command !== Command.Disconnect,
  );

  it.each(refused)('refuses command %i and stays open [CONN-001, CONN-002, CONN-003]', (command) => {
    const driver = new SessionDriver();
    const sent = frame({ command, id: 'x', queue: 'orders', errorCode: 'C', errorMessage: 'M' });
    expect(texts(driver, sent)).toEqual(['answer 99 x NOT_AUTHENTICATED']);
    expect(texts(driver, connect)).toEqual(['answer 1 c']);
  });

  it('answers Ping with Pong and its id [CONN-018, CONN-020]', () => {
    expect(texts(new SessionDriver(), ping)).toEqual(['answer 11 p']);
    const id = 'a-ping-with-a-long-id-0123456789';
    expect(texts(new SessionDriver(), frame({ command: Command.Ping, id }))).toEqual([`answer 11 ${id}`]);
  });

  it('closes on Disconnect without an answer [CONN-004]', () => {
    const driver = new SessionDriver();
    expect(texts(driver, disconnect)).toEqual(['close disconnect']);
    expect(driver.session.state).toBe('closed');
  });

  it.each([
    ['gzip', 1, gzipSync],
    ['brotli', 2, brotliCompressSync],
  ] as const)('refuses a %s frame like unknown flags [COMPRESS-015]', (_name, flags, compress) => {
    const sent = frameBytes(compress(bodyBytes({ command: Command.Connect, id: 'c' })), flags);
    expect(texts(new SessionDriver(), sent)).toEqual(['answer 99 fresh-1 INVALID_MESSAGE', 'close fault']);
  });

  it('refuses a wrong version and closes [CONN-011, CONN-012]', () => {
    const sent = frame({ version: 2, command: Command.Connect, id: 'c' });
    expect(texts(new SessionDriver(), sent, connect)).toEqual([
      'answer 99 c UNSUPPORTED_VERSION',
      'close fault',
    ]);
  });
});

describe('Connect', () => {
  it('is answered with its id and the headers of the broker [CONN-005, CONN-007]', () => {
    const serverHeaders = new Map([['serverVersion', '1.2']]);
    const driver = new SessionDriver({}, () => ({ kind: 'accept', serverHeaders }));
    const [answer] = driver.feed(connect);
    expect(answer).toEqual({
      kind: 'answer',
      fields: { command: Command.ConnectAck, id: 'c', headers: serverHeaders },
    });
  });

  it('is answered with the headers of the broker beside the agreed compression [CONN-037, COMPRESS-009]', () => {
    const serverHeaders = new Map([['serverVersion', '1.2']]);
    const driver = new SessionDriver({}, () => ({ kind: 'accept', serverHeaders }));
    const headers = [['supported-compression', 'gzip']] as const;
    const [answer] = driver.feed(frame({ command: Command.Connect, id: 'c', headers }));
    const expected = new Map([...serverHeaders, ['negotiated-compression', 'gzip']]);
    expect(answer).toMatchObject({ fields: { headers: expected } });
  });

  it('ignores headers that it does not know [CONN-005, CONN-038]', () => {
    const headers = [
      ['x-unknown', 'yes'],
      ['future', 'yes'],
    ] as const;
    const sent = frame({ command: Command.Connect, id: 'c', headers });
    expect(texts(new SessionDriver(), sent)).toEqual(['answer 1 c']);
  });

  it('holds back what follows until its outcome is known [CONN-031, CONN-032]', () => {
    const session = new SessionDriver().session;
    session.handleBytes(Buffer.concat([connect, ping, publish]));
    expect(session.next()).toMatchObject({ kind: 'connect', message: { id: 'c' } });
    expect([session.next(), session.state]).toEqual([undefined, 'connecting']);
    session.handleBytes(disconnect);
    expect(session.next()).toBeUndefined();
    session.handleConnectOutcome(acceptAll(sampleMessage()));
    const kinds = Array.from({ length: 5 }, () => session.next()?.kind);
    expect(kinds).toEqual(['answer', 'answer', 'message', 'close', undefined]);
  });

  it('that is refused leaves the connection open for another [AUTH-008]', () => {
    let refusals = 1;
    const driver = new SessionDriver({}, (message) => {
      refusals -= 1;
      return refusals >= 0 ? refuseAll(message) : acceptAll(message);
    });
    expect(texts(driver, connect, publish, connect, publish)).toEqual([
      'answer 99 c AUTH_FAILED',
      'answer 99 m-1 NOT_AUTHENTICATED',
      'answer 1 c',
      'command 20 m-1',
    ]);
  });

  it('closes the connection at the third refusal, whatever the reasons [AUTH-009]', () => {
    const driver = new SessionDriver({}, refuseAll);
    const broken = frame({ command: Command.Connect, id: 'b', queue: 'not a name' });
    expect(texts(driver, connect, broken, connect, connect)).toEqual([
      'answer 99 c AUTH_FAILED',
      'answer 99 b INVALID_MESSAGE',
      'answer 99 c AUTH_FAILED',
      'close failed-connects',
    ]);
  });

  it('closes at once when the refusal says so', () => {
    const driver = new SessionDriver({}, () => {
      return { kind: 'refuse', code: ErrorCode.RateLimited, text: 'Too many checks wait.', closes: true };
    });
    expect(texts(driver, connect, ping)).toEqual(['answer 99 c RATE_LIMITED', 'close fault']);
  });

  it('is refused a second time and changes nothing, whatever its version [CONN-013, CONN-029, CONN-030]', () => {
    const driver = connected();
    const second = frame({
      version: 9,
      command: Command.Connect,
      id: 'c2',
      headers: [['supported-compression', 'gzip']],
    });
    expect(texts(driver, second, second, second, publish)).toEqual([
      ...Array.from({ length: 3 }, () => 'answer 99 c2 INVALID_MESSAGE'),
      'command 20 m-1',
    ]);
    expect([driver.session.state, driver.session.negotiated]).toEqual(['connected', undefined]);
  });
});

describe('a connected session', () => {
  it('passes on every command of clients with its uncompressed body', () => {
    const body = bodyBytes({ command: Command.Publish, id: 'm-1', queue: 'orders', payload: '1' });
    expect(connected().feed(frameBytes(body))).toMatchObject([
      { kind: 'message', message: { queue: 'orders' }, body },
    ]);
  });

  it.each([...commandsOfBrokerOnly, 3, 77, 255])(
    'refuses unknown command %i and stays open [CONN-026, ERROR-002, CONN-027, CONN-028]',
    (command) => {
      const sent = frame({ command, id: 'x', errorCode: 'C', errorMessage: 'M' });
      expect(texts(connected(), sent, ping)).toEqual(['answer 99 x UNKNOWN_COMMAND', 'answer 11 p']);
    },
  );

  it.each([...commandsOfAdministration])('serves command %i only if it is configured', (command) => {
    const sent = frame({ command, id: 'x' });
    expect(texts(connected(), sent)).toEqual(['answer 99 x UNKNOWN_COMMAND']);
    const servedCommands = new Set([...commandsOfClient, ...commandsOfAdministration]);
    expect(texts(connected({ servedCommands }), sent)).toEqual([`command ${command} x`]);
  });

  it('ignores the version byte [CONN-013]', () => {
    expect(texts(connected(), frame({ version: 0, command: Command.Ack, id: 'a' }))).toEqual([
      'command 30 a',
    ]);
  });

  it('answers Ping in its place among the commands [CONN-019, CONN-031]', () => {
    const other = frame({ command: Command.Ping, id: 'пинг ✓' });
    expect(texts(connected(), Buffer.concat([publish, ping, publish, other]))).toEqual([
      'command 20 m-1',
      'answer 11 p',
      'command 20 m-1',
      'answer 11 пинг ✓',
    ]);
  });

  it('closes on Disconnect after what came before, and reads nothing after it [CONN-024, CONN-025]', () => {
    const driver = connected();
    expect(texts(driver, Buffer.concat([publish, disconnect, publish]), publish)).toEqual([
      'command 20 m-1',
      'close disconnect',
    ]);
    expect([driver.session.pendingBytes, driver.session.next()]).toEqual([0, undefined]);
  });

  it.each(named('frames', 'and closes', ['FRAME-013']))('answers %s', (_name, malformed) => {
    expect(texts(connected(), publish, malformedBytes(malformed), publish)).toEqual([
      'command 20 m-1',
      `answer 99 fresh-1 ${malformed.code}`,
      'close fault',
    ]);
  });

  it.each(named('bodies', 'and goes on', ['ERROR-006']))('answers %s', (_name, malformed) => {
    const { code, id = 'fresh-1' } = malformed;
    const events = texts(connected(), malformedBytes(malformed), publish);
    expect(events).toEqual([`answer 99 ${id} ${code}`, 'command 20 m-1']);
  });
});

describe('compression', () => {
  const offer = frame({
    command: Command.Connect,
    id: 'c',
    headers: [['supported-compression', 'gzip,brotli']],
  });
  const body = bodyBytes({ command: Command.Publish, id: 'm-1', queue: 'orders', payload: '1' });

  it('is agreed in the handshake and used from the threshold on [COMPRESS-005, COMPRESS-006, COMPRESS-007, COMPRESS-009]', () => {
    const driver = new SessionDriver();
    const [answer] = driver.feed(offer);
    expect(answer).toMatchObject({ fields: { headers: new Map([['negotiated-compression', 'gzip']]) } });
    expect([driver.session.outboundAlgorithm(1023), driver.session.outboundAlgorithm(1024)]).toEqual([
      undefined,
      'gzip',
    ]);
  });

  it('is not used when it was not agreed [COMPRESS-004, COMPRESS-010]', () => {
    const driver = new SessionDriver();
    const [answer] = driver.feed(connect);
    expect(answer).toMatchObject({ fields: { headers: new Map() } });
    expect(driver.session.outboundAlgorithm(1_000_000)).toBeUndefined();
  });

  it('is read after the handshake whatever was agreed, mixed and of any size [COMPRESS-001, COMPRESS-014, COMPRESS-018]', () => {
    const stream = Buffer.concat([
      frameBytes(gzipSync(body), 1),
      frameBytes(body),
      frameBytes(brotliCompressSync(body), 2),
    ]);
    const events = connected().feed(stream);
    expect(events).toMatchObject(
      Array.from({ length: 3 }, () => ({ kind: 'message', body, message: { id: 'm-1' } })),
    );
  });

  it('asks for inflating within the limit, and keeps the order meanwhile [CONN-031, FRAME-008]', () => {
    const limits = { ...defaultLimits, maxDecompressedSizeBytes: 5000 };
    const { session } = connected({ limits });
    session.handleBytes(Buffer.concat([frameBytes(gzipSync(body), 1), ping]));
    expect(session.next()).toEqual({
      kind: 'inflate',
      algorithm: 'gzip',
      body: gzipSync(body),
      limitBytes: 5000,
    });
    expect(session.next()).toBeUndefined();
    session.handleInflated(body);
    expect([session.next()?.kind, session.next()?.kind, session.next()]).toEqual([
      'message',
      'answer',
      undefined,
    ]);
  });
});

describe('precedence of faults', () => {
  const limited = { kind: 'fault', code: ErrorCode.RateLimited, text: 'Too fast.', closes: false } as const;
  const limit: Partial<ServerSessionOptions> = {
    admit: (message) => (message.id === 'fast' ? limited : undefined),
  };

  it('puts the frame before the body [ERROR-007]', () => {
    const [fault] = connected().feed(frameBytes(Buffer.from([1, 20]), 3));
    expect(fault).toMatchObject({ fields: { errorMessage: expect.stringContaining('flags') } });
  });

  it('puts the body before the version [ERROR-008]', () => {
    const cut = bodyBytes({ version: 2, command: Command.Connect, id: 'c' }).subarray(0, -1);
    expect(texts(new SessionDriver(), frameBytes(cut))).toEqual(['answer 99 c INVALID_MESSAGE']);
  });

  it('puts the version before the rate [ERROR-009]', () => {
    const sent = frame({ version: 2, command: Command.Connect, id: 'fast' });
    expect(texts(new SessionDriver(limit), sent)).toEqual([
      'answer 99 fast UNSUPPORTED_VERSION',
      'close fault',
    ]);
  });

  it('puts the rate before the handshake [ERROR-010]', () => {
    const sent = frame({ command: Command.Publish, id: 'fast' });
    expect(texts(new SessionDriver(limit), sent)).toEqual(['answer 99 fast RATE_LIMITED']);
  });

  it('puts the handshake before the field rules [ERROR-011]', () => {
    const sent = frame({ command: Command.Publish, id: 'x', queue: 'not a name' });
    expect(texts(new SessionDriver(), sent)).toEqual(['answer 99 x NOT_AUTHENTICATED']);
  });

  it('puts the field rules before the queue name and the command [ERROR-012]', () => {
    const nameless = frame({ command: Command.Publish, id: '', payload: '1' });
    expect(texts(connected(), nameless)).toEqual(['answer 99 fresh-1 INVALID_MESSAGE']);
    const sent = frame({ command: 77, id: 'x', queue: 'not a name' });
    expect(texts(connected(), sent)).toEqual(['answer 99 x INVALID_MESSAGE']);
  });
});

describe('our own faults', () => {
  it('throw, and change nothing', () => {
    const { session } = connected();
    expect(() => session.handleInflated(Buffer.alloc(2))).toThrow('No inflated body');
    expect(() => session.handleConnectOutcome({ kind: 'accept', serverHeaders: noHeaders })).toThrow(
      'No outcome',
    );
    session.handleBytes(ping);
    expect(session.next()).toMatchObject({ kind: 'answer', fields: { command: Command.Pong } });
  });
});

describe('what timers and limits are told', () => {
  it('is whether a frame has begun, which one, and how much is held', () => {
    const session = new ServerSession({
      limits: defaultLimits,
      supportedCompressions: [],
      compressionThresholdBytes: 1024,
      freshId: () => 'fresh',
    });
    session.handleBytes(Buffer.concat([ping, ping.subarray(0, 3)]));
    while (session.next() !== undefined);
    expect([session.hasPartialFrame, session.frameCount, session.pendingBytes]).toEqual([true, 1, 3]);
    session.handleBytes(ping.subarray(3));
    while (session.next() !== undefined);
    expect([session.hasPartialFrame, session.frameCount, session.pendingBytes]).toEqual([false, 2, 0]);
  });
});

function sampleMessage() {
  const [event] = connected().feed(publish);
  if (event?.kind !== 'message') throw new Error('A command was expected.');
  return event.message;
}
