// The faults that the proxy can plant, by name, each with the rates at which the self-test plants it. They are taken from life: what
// only shows in volume, now and then, or with more subscribers and connections than an example has.
import { Command, type CommandName } from '../../src/wire/command.ts';
import { delayAnswers, doubleAnswers, loseAnswers, mixedAnswers, strangeAnswers } from './answer-faults.ts';
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
import type { FaultSetting, LifeFault } from './passage.ts';

export type FaultName = keyof typeof faults;

/** A rate of a fault, and the checks that must see it then. */
type Rate = { readonly at: number; readonly seenBy: readonly [string, ...string[]] };

type FaultKind = {
  readonly title: string;
  readonly make: (setting: FaultSetting) => LifeFault;
  /** What the rates mean: one strike in so many, or from the one after so many. */
  readonly rate: 'every' | 'first';
} & (
  | { readonly rates: readonly [Rate, ...Rate[]] }
  /** Any outcome is right, but no error of the runner. */
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
    title: 'what is published to a queue after its nth message is confirmed and dropped',
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
    title: 'what is published to a queue in which n messages wait is confirmed and dropped',
    make: forgetBeyond,
    rate: 'first',
    rates: [
      { at: 150, seenBy: ['DELIVERY-010b'] },
      { at: 1000, seenBy: ['DELIVERY-010b'] },
    ],
  },
  'few-subscribers': {
    title: 'only the first n subscribers of a queue are served',
    make: fewSubscribers,
    rate: 'first',
    rates: [
      { at: 4, seenBy: ['DELIVERY-012b', 'DELIVERY-014d', 'DELIVERY-024c'] },
      { at: 20, seenBy: ['DELIVERY-012b'] },
    ],
  },
  'few-subscriptions': {
    title: 'only the first n subscriptions of a connection are served',
    make: fewSubscriptions,
    rate: 'first',
    rates: [
      { at: 5, seenBy: ['PUBLISH-002b', 'DELIVERY-030c'] },
      { at: 20, seenBy: ['PUBLISH-002b'] },
    ],
  },
  'few-connections': {
    title: 'a connection is cut when it is opened while there are n',
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
    title: 'every nth priority is taken for its opposite',
    make: turnPriorities,
    rate: 'every',
    rates: [{ at: 1000, seenBy: ['DELIVERY-030c'] }],
  },
  'swap-deliveries': {
    title: 'every nth Deliver is exchanged with its successor',
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
    title: 'every nth Deliver is lost and counts as acknowledged',
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

/** A new fault. It lives as long as one broker does. */
export function makeFault({ name, at, seed, answer }: PlantedFault): LifeFault {
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
  /** Empty: any outcome is right, but no error of the runner. */
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

/** The rate at which a fault is planted where none is given. */
export function usualRate(name: FaultName): number {
  const kind: FaultKind = faults[name];
  return 'rates' in kind ? kind.rates[0].at : kind.onlyNoError;
}
