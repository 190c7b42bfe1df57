// Tests each fault of the proxy: how it changes the frames, and how often.
import { describe, expect, it } from 'vitest';
import { Command } from '../../src/wire/command.ts';
import { decodeBody } from '../../src/wire/decode.ts';
import { encodeFrame } from '../../src/wire/encode.ts';
import type { FrameFields } from '../../src/wire/frame.ts';
import { type FaultName, faultCases, faults, makeFault } from './faults.ts';
import type { Passage } from './passage.ts';
import { PassingFrame } from './passage.ts';

type Sent = { readonly to: 'broker' | 'client' | 'in place'; readonly id: string; readonly text: string };

/** Plants a fault among the frames of one connection, and records what arrives at both ends. */
function stage(name: FaultName, at: number, passageCount = 1) {
  const arrived: Sent[] = [];
  const note = (to: Sent['to']) => (bytes: Buffer) => {
    const { id, queue, payload, headers } = decodeBody(bytes.subarray(5));
    arrived.push({ to, id, text: [queue, payload, ...headers.map(([, value]) => value)].join(' ') });
  };
  const passages = Array.from(
    { length: passageCount },
    (_, index): Passage => ({
      number: index + 1,
      toBroker: note('broker'),
      toClient: note('client'),
      answerInstead: note('in place'),
      cut: () => {
        arrived.push({ to: 'client', id: 'cut', text: '' });
      },
    }),
  );
  const fault = makeFault({ name, at, seed: 0 });
  for (const passage of passages) fault.opened?.(passage);
  const of = (index: number): Passage => passages[index] ?? (passages[0] as Passage);
  return {
    fromClient: (fields: FrameFields, index = 0) => {
      const frame = new PassingFrame(encodeFrame(fields));
      if (fault.fromClient?.(frame, of(index)) !== true) note('broker')(frame.bytes);
    },
    fromBroker: (fields: FrameFields, index = 0) => {
      const frame = new PassingFrame(encodeFrame(fields));
      if (fault.fromBroker?.(frame, of(index)) !== true) note('client')(frame.bytes);
    },
    leave: (index = 0) => fault.clientClosed?.(of(index)),
    arrived: (to: Sent['to']) => arrived.filter((one) => one.to === to).map(({ id }) => id),
    texts: () => arrived.map(({ text }) => text),
  };
}

const ids = ['m1', 'm2', 'm3', 'm4'] as const;
const publish = (id: string): FrameFields => ({ command: Command.Publish, id, queue: 'q', payload: '1' });
const deliver = (id: string, payload = '1'): FrameFields => ({
  command: Command.Deliver,
  id,
  queue: 'q',
  payload,
  headers: { a: 'x', priority: 'Low' },
});
const subscribe = (queue: string): FrameFields => ({ command: Command.Subscribe, id: `s-${queue}`, queue });

describe('faults in the handling of commands', () => {
  it.each([
    ['drop-publishes', 2, ['m2', 'm4']],
    ['forget-after', 3, ['m4']],
    ['forget-beyond', 3, ['m4']],
  ] as const)('%s %d confirms what it does not pass on', (name, at, dropped) => {
    const { fromClient, arrived } = stage(name, at);
    for (const id of ids) fromClient(publish(id));
    expect(arrived('in place')).toEqual(dropped);
    expect(arrived('broker')).toEqual(ids.filter((id) => !(dropped as readonly string[]).includes(id)));
  });

  it('ignore-acks passes on all acks but every nth', () => {
    const { fromClient, arrived } = stage('ignore-acks', 2);
    for (const id of ids) fromClient({ command: Command.Ack, id });
    expect(arrived('broker')).toEqual(['m1', 'm3']);
  });

  it('few-subscribers serves the first n of a queue, and another one when one of them has left', () => {
    const { fromClient, leave, arrived } = stage('few-subscribers', 1, 3);
    fromClient(subscribe('q'), 0);
    fromClient(subscribe('q'), 1);
    leave(0);
    fromClient(subscribe('q'), 2);
    expect([arrived('broker').length, arrived('in place').length]).toEqual([2, 1]);
  });

  it('few-subscriptions serves the first n of a connection', () => {
    const { fromClient, arrived } = stage('few-subscriptions', 2);
    for (const queue of ['a', 'b', 'c']) fromClient(subscribe(queue));
    expect(arrived('in place')).toEqual(['s-c']);
  });

  it('few-connections cuts the connection that is one too many', () => {
    expect(stage('few-connections', 2, 3).arrived('client')).toEqual(['cut']);
  });

  it('turn-priorities publishes with the opposite priority, and delivers with the right one', () => {
    const { fromClient, fromBroker, texts } = stage('turn-priorities', 1);
    fromClient({ ...publish('m1'), headers: { priority: 'Low' } });
    fromBroker({ ...deliver('m1'), headers: { priority: 'Critical' } });
    expect(texts()).toEqual(['q 1 Critical', 'q 1 Low']);
  });
});

describe('faults in deliveries', () => {
  it('swap-deliveries exchanges the second with the third', () => {
    const { fromBroker, arrived } = stage('swap-deliveries', 2);
    for (const id of ids.slice(0, 3)) fromBroker(deliver(id));
    expect(arrived('client')).toEqual(['m1', 'm3', 'm2']);
  });

  it.each([
    ['deliver-twice', ['m1', 'm2', 'm2', 'm3', 'm4', 'm4']],
    ['lose-deliveries', ['m1', 'm3']],
  ] as const)('%s', (name, came) => {
    const { fromBroker, arrived } = stage(name, 2);
    for (const id of ids) fromBroker(deliver(id));
    expect(arrived('client')).toEqual(came);
  });

  it('stop-after sends the first n of a subscription', () => {
    const { fromBroker, arrived } = stage('stop-after', 2);
    for (const id of ids) fromBroker(deliver(id));
    expect(arrived('client')).toEqual(['m1', 'm2']);
  });

  it.each([
    ['replace-payloads', '[7,"a"]', 'q [8,"a"] x Low'],
    ['replace-payloads', '"a"', 'q null x Low'],
    [
      'round-integers',
      '[9007199254740993,"9007199254740993",1.5]',
      'q [9007199254740992,"9007199254740993",1.5] x Low',
    ],
    ['wrong-queues', '1', 'q-2 1 x Low'],
    ['lose-headers', '1', 'q 1 x'],
  ] as const)('%s makes another message of %s', (name, payload, text) => {
    const { fromBroker, texts } = stage(name, 1);
    fromBroker(deliver('m1', payload));
    expect(texts()).toEqual([text]);
  });

  it('lose-held-messages acknowledges the messages that a closing subscriber holds', () => {
    const { fromClient, fromBroker, leave, arrived } = stage('lose-held-messages', 1);
    for (const id of ids) fromBroker(deliver(id));
    fromClient({ command: Command.Ack, id: 'm1' });
    leave();
    expect(arrived('broker')).toEqual(['m1', 'm2', 'm3', 'm4']);
  });

  it('other-subscribers sends to the other one', () => {
    const { fromClient, fromBroker, arrived } = stage('other-subscribers', 1, 2);
    fromClient(subscribe('q'), 0);
    fromBroker(deliver('m1'), 0);
    fromClient(subscribe('q'), 1);
    fromBroker(deliver('m2'), 0);
    expect(arrived('client')).toEqual(['m1', 'm2']);
  });
});

describe('faults in answers', () => {
  const answer = (id: string): FrameFields => ({ command: Command.PublishAck, id, queue: 'q' });
  it.each([
    ['lose-answers', ['m1', 'm3']],
    ['double-answers', ['m1', 'm2', 'm2', 'm3', 'm4', 'm4']],
    ['double-confirmations', ['m1', 'm2', 'm2', 'm3', 'm4', 'm4']],
    ['strange-answers', ['m1', 'strange-m2', 'm3', 'strange-m4']],
    ['mixed-answers', ['m1', 'm1', 'm3', 'm3']],
  ] as const)('%s', (name, came) => {
    const { fromBroker, arrived } = stage(name, 2);
    for (const id of ids) fromBroker(answer(id));
    fromBroker(deliver('m5'));
    expect(arrived('client')).toEqual([...came, 'm5']);
  });
});

describe('faultCases', () => {
  it('plants every fault at each of its rates', () => {
    expect(new Set(faultCases(1).map(({ fault }) => fault.name))).toEqual(new Set(Object.keys(faults)));
  });

  it('affects other events with another seed', () => {
    const struck = (seed: number): number => {
      const fault = makeFault({ name: 'ignore-acks', at: 10, seed });
      const ack = new PassingFrame(encodeFrame({ command: Command.Ack, id: 'm' }));
      const passage = {} as Passage;
      return Array.from({ length: 10 }).findIndex(() => fault.fromClient?.(ack, passage) === true);
    };
    expect([struck(0), struck(4), struck(13)]).toEqual([9, 5, 6]);
  });
});
