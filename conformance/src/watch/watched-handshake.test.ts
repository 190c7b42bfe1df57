// What a handshake allows the broker: each rule is shown broken and kept, and nothing is concluded where it is not known what was agreed.
import { describe, expect, it } from 'vitest';
import { Command } from '../wire/command.ts';
import type { ReceivedFrame } from '../wire/frame.ts';
import { WatchedHandshake } from './watched-handshake.ts';

type Received = { readonly command: number; readonly flags?: number; readonly bytes?: number };

function frame({ command, flags = 0, bytes = 2000 }: Received, negotiated?: string): ReceivedFrame {
  const headers = negotiated === undefined ? [] : ([['negotiated-compression', negotiated]] as const);
  const fields = {
    ...{ command, commandName: `${command}`, id: 'id', queue: '', errorCode: '', errorMessage: '' },
    ...{ payload: Buffer.alloc(bytes), headers, flags, trailingByteCount: 0 },
    header: () => negotiated,
  };
  return fields as unknown as ReceivedFrame;
}

/** A handshake that offers `offered` and agrees on `negotiated`, and what the ConnectAck broke. */
function handshake(offered?: string, negotiated?: string) {
  const watched = new WatchedHandshake();
  watched.opened();
  const headers = offered === undefined ? {} : { 'supported-compression': offered };
  watched.connects({ command: Command.Connect, id: 'c', headers });
  const broken = watched.breach(frame({ command: Command.ConnectAck }, negotiated), true)?.clause;
  return { watched, broken };
}

const clauseOf = (watched: WatchedHandshake, received: Received): string | undefined =>
  watched.breach(frame(received), received.command !== Command.Pong)?.clause;

describe('before a Connect is accepted', () => {
  const publishAck = { command: Command.PublishAck };

  it('nothing is carried out', () => {
    const watched = new WatchedHandshake();
    watched.opened();
    expect(clauseOf(watched, { command: Command.Pong })).toBeUndefined();
    expect(clauseOf(watched, publishAck)).toBe('CONN-001');
    expect(clauseOf(watched, { command: Command.Deliver })).toBe('CONN-001');
  });

  it('nothing is carried out when it was refused', () => {
    const watched = new WatchedHandshake();
    watched.opened();
    watched.connects({ command: Command.Connect, id: 'c' });
    // The order of the answers is only recommended.
    expect(clauseOf(watched, publishAck)).toBeUndefined();
    watched.refused();
    expect(clauseOf(watched, publishAck)).toBe('CONN-001');
  });

  it('it is not known on a connection of an earlier check', () => {
    expect(clauseOf(new WatchedHandshake(), publishAck)).toBeUndefined();
  });

  it('afterwards everything is', () => {
    expect(clauseOf(handshake().watched, publishAck)).toBeUndefined();
  });
});

describe('the agreement', () => {
  it.each([
    [undefined, undefined, undefined],
    [undefined, 'gzip', 'COMPRESS-010'],
    ['gzip', undefined, undefined],
    ['brotli, GZIP', 'gzip', undefined],
    ['none-such', 'gzip', 'COMPRESS-009'],
  ])('on what offers %s, by %s', (offered, negotiated, clause) => {
    expect(handshake(offered, negotiated).broken).toBe(clause);
  });

  it('is not compressed without an offer', () => {
    const watched = new WatchedHandshake();
    watched.connects({ command: Command.Connect, id: 'c' });
    expect(clauseOf(watched, { command: Command.ConnectAck, flags: 1 })).toBe('COMPRESS-004');
  });
});

describe('a compressed frame', () => {
  const gzip = { command: Command.Deliver, flags: 1 };
  const brotli = { command: Command.Deliver, flags: 2 };

  it('needs an agreement', () => {
    expect(clauseOf(handshake().watched, gzip)).toBe('COMPRESS-004');
    expect(clauseOf(handshake('gzip').watched, gzip)).toBe('COMPRESS-004');
    expect(clauseOf(handshake('gzip', 'gzip').watched, gzip)).toBeUndefined();
  });

  it('has the algorithm that was agreed on', () => {
    expect(clauseOf(handshake('gzip,brotli', 'brotli').watched, gzip)).toBe('COMPRESS-007');
    expect(clauseOf(handshake('gzip,brotli', 'Brotli').watched, brotli)).toBeUndefined();
  });

  it('is not judged by the first agreement after a second Connect', () => {
    const { watched } = handshake('gzip,brotli', 'brotli');
    watched.connects({ command: Command.Connect, id: 'c2', headers: { 'supported-compression': 'gzip' } });
    expect(clauseOf(watched, gzip)).toBeUndefined();
  });

  it('has a body of at least the threshold', () => {
    const { watched } = handshake('gzip', 'gzip');
    // The id and its length, the length of the queue, and the other fixed fields.
    const others = 4 + 2 + 8;
    expect(clauseOf(watched, { ...gzip, bytes: 1023 - others })).toBe('COMPRESS-005');
    expect(clauseOf(watched, { ...gzip, bytes: 1024 - others })).toBeUndefined();
    expect(clauseOf(new WatchedHandshake(), { ...gzip, bytes: 10 })).toBe('COMPRESS-005');
    expect(clauseOf(new WatchedHandshake(), gzip)).toBeUndefined();
  });
});
