// The load of the gate: what it counts, and that a service which loses or changes something gives no figure. The service is the skeleton, behind
// something that changes its bytes; the clock is the test's where the load has to give up.
import { describe, expect, it } from 'vitest';
import { Relay } from '../../conformance/bench/skeleton/relay.ts';
import { Command } from '../../conformance/src/wire/command.ts';
import { encodeFrame } from '../../conformance/src/wire/encode.ts';
import { Load, type LoadOptions, type Service } from './load.ts';
import type { Peer } from './peer.ts';

type Change = (bytes: Buffer, writeCount: number) => Buffer;

const options: LoadOptions = { payloadBytes: 100, subscriberCount: 1, windowCount: 8, queue: 'gate' };

/** Each look at it takes a second. */
function hastyClock(): () => number {
  let now = 0;
  return () => {
    now += 1000;
    return now;
  };
}

/** The skeleton; what it writes to the client of this index is changed. Index 0 is the publisher. */
function changing(client: number, change: Change): Service {
  const relay = new Relay();
  let attachedCount = 0;
  return {
    attach(peer) {
      if (attachedCount === client) changeWrites(peer, change);
      attachedCount += 1;
      relay.attach(peer);
    },
  };
}

function changeWrites(peer: Peer, change: Change): void {
  let writeCount = 0;
  const write = peer._write.bind(peer);
  peer._write = (bytes, encoding, done) => {
    writeCount += 1;
    write(change(bytes, writeCount), encoding, done);
  };
}

const publisher = 0;
const subscriber = 1;
/** Writes to the publisher: the answers to Connect and CreateQueue, the first confirm, and then a turn each. To a subscriber likewise. */
const firstMessage = 3;

describe('a load', () => {
  it.each([1, 10])('passes every message to %i subscribers, and says what each turn took', async (count) => {
    const load = await Load.begin(new Relay(), { ...options, subscriberCount: count });
    const { messageCount, turnsMs } = await load.pass(3);
    expect(messageCount).toBe(24);
    expect(turnsMs).toHaveLength(3);
    expect((await load.pass(2)).messageCount).toBe(16);
  });

  it.each([
    ['a confirm', publisher, 'bytes of confirms are missing'],
    ['a delivery', subscriber, 'bytes of deliveries are missing'],
  ])('gives no figure when the service loses %s', async (_, client, text) => {
    const lossy = changing(client, (bytes, count) => (count > firstMessage ? bytes.subarray(90) : bytes));
    const load = await Load.begin(lossy, { ...options, nowMs: hastyClock() });
    await expect(load.pass(1)).rejects.toThrow(text);
  });

  it('gives no figure when the service delivers twice', async () => {
    const twice = changing(subscriber, (bytes, count) =>
      count > firstMessage ? Buffer.concat([bytes, bytes]) : bytes,
    );
    const load = await Load.begin(twice, { ...options, nowMs: hastyClock() });
    await expect(load.pass(1)).rejects.toThrow('bytes of deliveries are too many');
  });

  it('does not begin when the first delivery is not what was published', async () => {
    const other = changing(subscriber, (bytes, count) =>
      count < firstMessage ? bytes : withOtherPayload(bytes),
    );
    await expect(Load.begin(other, options)).rejects.toThrow('the first Deliver is not what was published');
  });

  it('does not begin when a command is refused', async () => {
    const refusal = encodeFrame({
      command: Command.Error,
      id: 'connect',
      errorCode: 'X',
      errorMessage: 'no',
    });
    await expect(
      Load.begin(
        changing(publisher, () => refusal),
        options,
      ),
    ).rejects.toThrow('ConnectAck was expected, and not: Error no');
  });

  it('does not begin with a service that never answers', async () => {
    const mute: Service = { attach: () => undefined };
    await expect(Load.begin(mute, { ...options, nowMs: hastyClock() })).rejects.toThrow(
      'no answer to Connect',
    );
  });
});

/** The last bytes of a Deliver are its number of headers; the payload stands before them. */
function withOtherPayload(bytes: Buffer): Buffer {
  const other = Buffer.from(bytes);
  other[other.length - 4] = 0x21;
  return other;
}
