// The faults that the proxy can plant, by name, each with the rates of the self-test. They are occasional faults, as in real brokers: they
// appear only with many messages, now and then, or with many subscribers and connections.
import { Command, type CommandName } from '../../src/wire/command.ts';
import {
  delayAnswers,
  doubleAnswers,
  doubleConfirmations,
  loseAnswers,
  mixedAnswers,
  strangeAnswers,
} from './answer-faults.ts';
import {
  dropPublishes,
  fewConnections,
  fewSubscribers,
  fewSubscriptions,
  forgetAfter,
  forgetBeyond,
  ignoreAcks,
  turnPriorities,
} from './command-faults.ts';
import {
  deliverTwice,
  loseDeliveries,
  loseHeaders,
  loseHeldMessages,
  otherSubscribers,
  replacePayloads,
  roundIntegers,
  stopAfter,
  swapDeliveries,
  wrongQueues,
} from './delivery-faults.ts';
import type { FaultSetting, ProxyFault } from './passage.ts';

export type FaultName = keyof typeof faults;

/** A rate of a fault, and the checks that must find it at this rate. */
type Rate = { readonly at: number; readonly seenBy: readonly [string, ...string[]] };

type FaultKind = {
  readonly title: string;
  readonly make: (setting: FaultSetting) => ProxyFault;
  /** The meaning of a rate n: every nth event, or all events after the first n. */
  readonly rate: 'every' | 'first';
} & (
  | { readonly rates: readonly [Rate, ...Rate[]] }
  /** Any outcome is right, except an error of the runner. */
  | { readonly onlyNoError: number }
);

export const faults = {
  'drop-publishes': {
    title: 'every nth Publish is confirmed and dropped',
    make: dropPublishes,
    rate: 'every',
    rates: [
      { at: 1000, seenBy: ['PUBLISH-002b', 'DELIVERY-024c'] },
      { at: 2000, seenBy: ['DELIVERY-014d'] },
      { at: 200, seenBy: ['PUBLISH-002b'] },
    ],
  },
  'forget-after': {
    title: 'publishes to a queue after its nth message are confirmed and dropped',
    make: forgetAfter,
    rate: 'first',
    rates: [
      {
        at: 150,
        seenBy: ['DELIVERY-010b', 'DELIVERY-011b', 'DELIVERY-014d', 'DELIVERY-024c', 'DELIVERY-030c'],
      },
      { at: 1000, seenBy: ['DELIVERY-010b'] },
      { at: 60, seenBy: ['PUBLISH-002b'] },
    ],
  },
  'forget-beyond': {
    title: 'publishes to a queue with n waiting messages are confirmed and dropped',
    make: forgetBeyond,
    rate: 'first',
    rates: [
      { at: 150, seenBy: ['DELIVERY-010b'] },
      { at: 1000, seenBy: ['DELIVERY-010b'] },
    ],
  },
  'few-subscribers': {
    title: 'only the first n subscribers of a queue get messages',
    make: fewSubscribers,
    rate: 'first',
    rates: [
      { at: 4, seenBy: ['DELIVERY-012b', 'DELIVERY-014d', 'DELIVERY-024c'] },
      { at: 20, seenBy: ['DELIVERY-012b'] },
    ],
  },
  'few-subscriptions': {
    title: 'only the first n subscriptions of a connection get messages',
    make: fewSubscriptions,
    rate: 'first',
    rates: [
      { at: 5, seenBy: ['PUBLISH-002b', 'DELIVERY-030c'] },
      { at: 20, seenBy: ['PUBLISH-002b'] },
    ],
  },
  'few-connections': {
    title: 'a new connection is cut while n connections are open',
    make: fewConnections,
    rate: 'first',
    rates: [{ at: 40, seenBy: ['DELIVERY-011b'] }],
  },
  'ignore-acks': {
    title: 'every nth Ack is ignored',
    make: ignoreAcks,
    rate: 'every',
    rates: [
      { at: 10, seenBy: ['PUBLISH-002b'] },
      { at: 100, seenBy: ['PUBLISH-002b', 'DELIVERY-014d', 'DELIVERY-030c'] },
      { at: 1000, seenBy: ['PUBLISH-002b'] },
    ],
  },
  'turn-priorities': {
    title: 'every nth priority is replaced by its opposite',
    make: turnPriorities,
    rate: 'every',
    rates: [{ at: 1000, seenBy: ['DELIVERY-030c'] }],
  },
  'swap-deliveries': {
    title: 'every nth Deliver is exchanged with the next one',
    make: swapDeliveries,
    rate: 'every',
    rates: [
      { at: 1000, seenBy: ['PUBLISH-002b', 'DELIVERY-014d'] },
      { at: 2000, seenBy: ['DELIVERY-011b'] },
    ],
  },
  'replace-payloads': {
    title: 'the payload of every nth Deliver is changed',
    make: replacePayloads,
    rate: 'every',
    rates: [
      { at: 100, seenBy: ['PUBLISH-002b', 'DELIVERY-038c'] },
      { at: 1000, seenBy: ['PUBLISH-002b'] },
    ],
  },
  'round-integers': {
    title: 'integers are read as doubles',
    make: roundIntegers,
    rate: 'every',
    rates: [{ at: 1, seenBy: ['PUBLISH-002b'] }],
  },
  'deliver-twice': {
    title: 'every nth Deliver is sent twice',
    make: deliverTwice,
    rate: 'every',
    rates: [{ at: 1000, seenBy: ['PUBLISH-002b', 'DELIVERY-024c'] }],
  },
  'wrong-queues': {
    title: 'every nth Deliver names another queue',
    make: wrongQueues,
    rate: 'every',
    rates: [{ at: 1000, seenBy: ['PUBLISH-002b'] }],
  },
  'lose-headers': {
    title: 'every nth Deliver lacks its last header',
    make: loseHeaders,
    rate: 'every',
    rates: [{ at: 1000, seenBy: ['PUBLISH-002b'] }],
  },
  'lose-deliveries': {
    title: 'every nth Deliver is lost and acknowledged',
    make: loseDeliveries,
    rate: 'every',
    rates: [
      { at: 1000, seenBy: ['PUBLISH-002b', 'DELIVERY-024c'] },
      { at: 2000, seenBy: ['DELIVERY-014d'] },
    ],
  },
  'stop-after': {
    title: 'a subscription is sent nothing after its nth message',
    make: stopAfter,
    rate: 'first',
    rates: [{ at: 60, seenBy: ['PUBLISH-002b'] }],
  },
  'other-subscribers': {
    title: 'every nth Deliver goes to another subscriber of the queue',
    make: otherSubscribers,
    rate: 'every',
    rates: [{ at: 500, seenBy: ['DELIVERY-010b', 'DELIVERY-014d'] }],
  },
  'lose-held-messages': {
    title: 'every nth message that a subscriber holds is lost when its connection ends',
    make: loseHeldMessages,
    rate: 'every',
    rates: [
      { at: 50, seenBy: ['DELIVERY-038c'] },
      { at: 400, seenBy: ['DELIVERY-038c'] },
    ],
  },
  'double-confirmations': {
    title: 'every nth PublishAck is sent twice',
    make: doubleConfirmations,
    rate: 'every',
    rates: [{ at: 1000, seenBy: ['PUBLISH-002b', 'DELIVERY-024c'] }],
  },
  'lose-answers': { title: 'every nth answer is lost', make: loseAnswers, rate: 'every', onlyNoError: 50 },
  'delay-answers': { title: 'every nth answer is late', make: delayAnswers, rate: 'every', onlyNoError: 50 },
  'double-answers': {
    title: 'every nth answer is sent twice',
    make: doubleAnswers,
    rate: 'every',
    onlyNoError: 50,
  },
  'strange-answers': {
    title: 'every nth answer has an unknown id',
    make: strangeAnswers,
    rate: 'every',
    onlyNoError: 50,
  },
  'mixed-answers': {
    title: 'every nth answer has the id of the answer before it',
    make: mixedAnswers,
    rate: 'every',
    onlyNoError: 50,
  },
} as const satisfies Readonly<Record<string, FaultKind>>;

/** One fault at one rate. `answer` limits a fault of the answers to one command. */
export type PlantedFault = {
  readonly name: FaultName;
  readonly at: number;
  readonly seed: number;
  readonly answer?: CommandName | undefined;
};

/** Creates a fault for one broker. */
export function makeFault({ name, at, seed, answer }: PlantedFault): ProxyFault {
  const kind: FaultKind = faults[name];
  return kind.make({
    every: kind.rate === 'every' ? at : 1,
    first: kind.rate === 'first' ? at : 0,
    seed,
    answer: answer === undefined ? undefined : Command[answer],
  });
}

export type FaultCase = {
  readonly fault: PlantedFault;
  readonly title: string;
  /** Empty: any outcome is right, except an error of the runner. */
  readonly seenBy: readonly string[];
};

/** Every fault at each of its rates. */
export function faultCases(seed: number): readonly FaultCase[] {
  return (Object.entries(faults) as [FaultName, FaultKind][]).flatMap(([name, kind]) => {
    const rates = 'rates' in kind ? kind.rates : [{ at: kind.onlyNoError, seenBy: [] }];
    return rates.map(({ at, seenBy }) => ({
      fault: { name, at, seed },
      title: `${kind.title}, n = ${at}`,
      seenBy,
    }));
  });
}

/** The faults of the answers. Whatever they do, the runner must not end in an error. */
export const answerFaults = (Object.keys(faults) as FaultName[]).filter(
  (name) => 'onlyNoError' in faults[name],
);

export function isFaultName(name: string): name is FaultName {
  return Object.hasOwn(faults, name);
}

/** The rate of a fault if none is given. */
export function usualRate(name: FaultName): number {
  const kind: FaultKind = faults[name];
  return 'rates' in kind ? kind.rates[0].at : kind.onlyNoError;
}
