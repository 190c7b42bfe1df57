// One connection on the client's side, alone and against the broker's side.

import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { Command } from '../protocol/command.ts';
import { encodeFrame } from '../protocol/encode.ts';
import { defaultLimits } from '../protocol/limits.ts';
import { acceptAll, refuseAll, SessionDriver } from '../testing/session-driver.ts';
import { type BodyParts, bodyBytes, frameBytes } from '../testing/wire-bytes.ts';
import { recordedFrames } from '../testing/wire-fixtures.ts';
import { type ClientEvent, ClientSession, type ClientSessionOptions } from './client-session.ts';

function clientSession(options: Partial<ClientSessionOptions> = {}): ClientSession {
  return new ClientSession({
    limits: defaultLimits,
    compressions: ['brotli', 'gzip'],
    compressionThresholdBytes: 1024,
    ...options,
  });
}

function frame(parts: BodyParts): Buffer {
  return frameBytes(bodyBytes(parts));
}

function feed(session: ClientSession, ...chunks: readonly Buffer[]): ClientEvent[] {
  for (const chunk of chunks) session.handleBytes(chunk);
  const events: ClientEvent[] = [];
  for (let event = session.next(); event !== undefined; event = session.next()) events.push(event);
  return events;
}

function connected(options: Partial<ClientSessionOptions> = {}): ClientSession {
  const session = clientSession(options);
  session.connect({ id: 'c' });
  const headers = [['negotiated-compression', 'gzip']] as const;
  expect(feed(session, frame({ command: Command.ConnectAck, id: 'c', headers }))).toMatchObject([
    { kind: 'connected' },
  ]);
  return session;
}

describe('the handshake', () => {
  it('offers the compressions in order, as recorded clients do', () => {
    const recorded = recordedFrames().find(
      (one) => one.command === 'Connect' && one.headers[0]?.[1] === 'brotli,gzip',
    );
    expect(
      clientSession()
        .connect({ id: recorded?.id ?? '' })
        .toString('hex'),
    ).toBe(recorded?.hex);
  });

  it('offers nothing when there is nothing to offer', () => {
    const headers = new Map([['authToken', 'secret']]);
    expect(clientSession({ compressions: [] }).connect({ id: 'c', headers })).toEqual(
      frame({ command: Command.Connect, id: 'c', headers: [['authToken', 'secret']] }),
    );
  });

  it('takes the ConnectAck whatever its id', () => {
    const session = clientSession();
    session.connect({ id: 'c' });
    const [event] = feed(session, frame({ command: Command.ConnectAck, id: 'another' }));
    expect(event).toMatchObject({ kind: 'connected', message: { id: 'another' } });
    expect([session.state, session.negotiated]).toEqual(['connected', undefined]);
  });

  it('takes an Error whatever its id for a refusal, after which it may try again', () => {
    const session = clientSession();
    session.connect({ id: 'c' });
    const error = frame({
      command: Command.Error,
      id: 'another',
      errorCode: 'AUTH_FAILED',
      errorMessage: 'No.',
    });
    expect(feed(session, error)).toMatchObject([{ kind: 'refused', message: { errorCode: 'AUTH_FAILED' } }]);
    expect(() => session.connect({ id: 'c2' })).not.toThrow();
  });

  it('passes on what is no answer to it, such as a Disconnect', () => {
    const session = clientSession();
    session.connect({ id: 'c' });
    expect(feed(session, frame({ command: Command.Disconnect, id: 'd' }))).toMatchObject([
      { kind: 'message' },
    ]);
    expect(session.state).toBe('connecting');
  });

  it('accepts only an algorithm that it offered', () => {
    const session = clientSession({ compressions: ['brotli'] });
    session.connect({ id: 'c' });
    feed(session, frame({ command: Command.ConnectAck, headers: [['negotiated-compression', 'gzip']] }));
    expect(session.negotiated).toBeUndefined();
  });

  it('reads a ConnectAck that is compressed already', () => {
    const session = clientSession();
    session.connect({ id: 'c' });
    const body = bodyBytes({ command: Command.ConnectAck, id: 'c' });
    expect(feed(session, frameBytes(gzipSync(body), 1))).toMatchObject([
      { kind: 'inflate', algorithm: 'gzip' },
    ]);
    session.handleInflated(body);
    expect(session.next()).toMatchObject({ kind: 'connected' });
  });
});

describe('a connected client', () => {
  it('yields every message with its body, also one with more headers than a client may send', () => {
    const headers = Array.from({ length: 55 }, (_, index) => [`k${index}`, 'v'] as const);
    const body = bodyBytes({ command: Command.Deliver, id: 'm', queue: 'q', headers });
    expect(feed(connected(), frameBytes(body))).toMatchObject([
      { kind: 'message', body, message: { id: 'm' } },
    ]);
  });

  it('compresses from the threshold on', () => {
    const session = connected();
    expect([session.outboundAlgorithm(1023), session.outboundAlgorithm(1024)]).toEqual([undefined, 'gzip']);
  });

  it('encodes commands, and throws for one that the broker would not survive reading', () => {
    const session = connected({ limits: { ...defaultLimits, maxMessageSizeBytes: 100 } });
    const fields = { command: Command.Publish, id: 'm', queue: 'q', payload: Buffer.from('1') };
    expect(session.encodeCommand(fields)).toEqual(frame({ ...fields, payload: '1' }));
    expect(() => session.encodeCommand({ ...fields, payload: Buffer.alloc(100, '1') })).toThrow(RangeError);
  });

  it('ends with a framing fault of the broker, and passes over a broken body', () => {
    const session = connected();
    const broken = frameBytes(Buffer.from([1, Command.Deliver]));
    const events = feed(session, broken, frame({ command: Command.Pong }), frameBytes(broken, 9), broken);
    expect(events).toMatchObject([
      { kind: 'fault', closes: false },
      { kind: 'message' },
      { kind: 'fault', closes: true },
    ]);
    expect(session.state).toBe('closed');
  });

  it('yields nothing once it was closed', () => {
    const session = connected();
    session.handleBytes(frame({ command: Command.Pong }));
    session.handleClosed();
    expect(session.next()).toBeUndefined();
    expect(() => session.handleClosed()).toThrow('closed');
  });
});

describe('our own faults', () => {
  it('throw: a command before the handshake, but for Ping and Disconnect', () => {
    const session = clientSession();
    expect(() => session.encodeCommand({ command: Command.Subscribe, id: 's', queue: 'q' })).toThrow(
      'awaiting-connect',
    );
    expect(session.encodeCommand({ command: Command.Ping, id: 'p' })).toEqual(
      frame({ command: Command.Ping, id: 'p' }),
    );
    expect(session.encodeCommand({ command: Command.Disconnect, id: 'd' }).length).toBeGreaterThan(0);
  });

  it('throw: a Connect while one is under way', () => {
    const session = clientSession();
    session.connect({ id: 'c' });
    expect(() => session.connect({ id: 'c2' })).toThrow('connecting');
  });
});

describe('both sides together', () => {
  it('agree, refuse, agree again and exchange commands', () => {
    const client = clientSession({ compressions: ['gzip', 'brotli'] });
    let connectCount = 0;
    const broker = new SessionDriver({}, (message) => {
      connectCount += 1;
      return connectCount === 1 ? refuseAll(message) : acceptAll(message);
    });
    const exchange = (bytes: Buffer) =>
      feed(
        client,
        ...broker
          .feed(bytes)
          .flatMap((event) => (event.kind === 'answer' ? [encodeFrame(event.fields)] : [])),
      );

    expect(exchange(client.connect({ id: 'c1' }))).toMatchObject([
      { kind: 'refused', message: { id: 'c1' } },
    ]);
    expect(exchange(client.connect({ id: 'c2' }))).toMatchObject([
      { kind: 'connected', message: { id: 'c2' } },
    ]);
    expect([client.negotiated, broker.session.negotiated]).toEqual(['gzip', 'gzip']);
    const pong = exchange(client.encodeCommand({ command: Command.Ping, id: 'p' }));
    expect(pong).toMatchObject([{ kind: 'message', message: { command: Command.Pong, id: 'p' } }]);
    expect(exchange(client.encodeCommand({ command: Command.Disconnect, id: 'd' }))).toEqual([]);
    expect(broker.session.state).toBe('closed');
  });
});
