// The faults that the proxy can plant, by name, each with the rates at which the self-test plants it. They are taken from life: what
// only shows in volume, now and then, or with more subscribers and connections than an example has.
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

type FaultKind = {
  readonly title: string;
  readonly make: (setting: FaultSetting) => LifeFault;
} & (
  | { readonly every: readonly [number, ...number[]] }
  | { readonly first: readonly [number, ...number[]] }
  | { readonly always: true }
);

export const faults = {
  'drop-publishes': {
    title: 'every nth Publish is confirmed and dropped',
    make: dropPublishes,
    every: [1000, 200],
  },
  'forget-after': {
    title: 'what is published to a queue after its nth message is confirmed and dropped',
    make: forgetAfter,
    first: [150, 1000],
  },
  'forget-beyond': {
    title: 'what is published to a queue with n messages is confirmed and dropped',
    make: forgetBeyond,
    first: [150, 1000],
  },
  'few-subscribers': {
    title: 'only the first n subscribers of a queue are served',
    make: fewSubscribers,
    first: [4, 20],
  },
  'few-subscriptions': {
    title: 'only the first n subscriptions of a connection are served',
    make: fewSubscriptions,
    first: [5, 20],
  },
  'few-connections': {
    title: 'a connection is cut when it is opened while there are n',
    make: fewConnections,
    first: [40],
  },
  'ignore-acks': { title: 'every nth Ack is ignored', make: ignoreAcks, every: [100, 1000] },
  'turn-priorities': {
    title: 'every nth priority is taken for its opposite',
    make: turnPriorities,
    every: [1000],
  },
  'swap-deliveries': {
    title: 'every nth Deliver is exchanged with its successor',
    make: swapDeliveries,
    every: [1000, 50],
  },
  'replace-payloads': {
    title: 'the payload of every nth Deliver is changed',
    make: replacePayloads,
    every: [100, 1000],
  },
  'round-integers': { title: 'integers are read as doubles', make: roundIntegers, always: true },
  'deliver-twice': { title: 'every nth Deliver is sent twice', make: deliverTwice, every: [1000] },
  'wrong-queues': { title: 'every nth Deliver names another queue', make: wrongQueues, every: [1000] },
  'lose-headers': { title: 'every nth Deliver lacks its last header', make: loseHeaders, every: [1000] },
  'lose-deliveries': {
    title: 'every nth Deliver is lost and counts as acknowledged',
    make: loseDeliveries,
    every: [1000],
  },
  'stop-after': {
    title: 'a subscription is sent nothing after its nth message',
    make: stopAfter,
    first: [60],
  },
  'other-subscribers': {
    title: 'every nth Deliver goes to another subscriber of the queue',
    make: otherSubscribers,
    every: [500],
  },
  'lose-held-messages': {
    title: 'every nth message that a subscriber holds is lost when its connection ends',
    make: loseHeldMessages,
    every: [50],
  },
  'lose-answers': { title: 'every nth answer is lost', make: loseAnswers, every: [50] },
  'delay-answers': { title: 'every nth answer comes late', make: delayAnswers, every: [50] },
  'double-answers': { title: 'every nth answer comes twice', make: doubleAnswers, every: [50] },
  'strange-answers': { title: 'every nth answer has an unknown id', make: strangeAnswers, every: [50] },
  'mixed-answers': {
    title: 'every nth answer has the id of the answer before it',
    make: mixedAnswers,
    every: [50],
  },
} as const satisfies Readonly<Record<string, FaultKind>>;

/** One fault at one rate. */
export type PlantedFault = {
  readonly name: FaultName;
  /** Once in so many times. */
  readonly every?: number;
  /** After so many. */
  readonly first?: number;
  readonly seed: number;
};

/** A new fault. It lives as long as one broker does. */
export function makeFault({ name, every, first, seed }: PlantedFault): LifeFault {
  const kind: FaultKind = faults[name];
  const usual = {
    every: 'every' in kind ? kind.every[0] : 1,
    first: 'first' in kind ? kind.first[0] : 0,
  };
  return kind.make({ every: every ?? usual.every, first: first ?? usual.first, seed });
}

/** Every fault at each of its rates. */
export function allFaults(seed: number): readonly PlantedFault[] {
  return (Object.entries(faults) as [FaultName, FaultKind][]).flatMap(
    ([name, kind]): readonly PlantedFault[] => {
      if ('every' in kind) return kind.every.map((every) => ({ name, every, seed }));
      if ('first' in kind) return kind.first.map((first) => ({ name, first, seed }));
      return [{ name, seed }];
    },
  );
}

export function isFaultName(name: string): name is FaultName {
  return Object.hasOwn(faults, name);
}

/** `drop-publishes --every 1000 --seed 3`: as it is told to the adapter. */
export function faultText({ name, every, first, seed }: PlantedFault): string {
  const parts = [
    name,
    every === undefined ? '' : `--every ${every}`,
    first === undefined ? '' : `--first ${first}`,
  ];
  return [...parts, `--seed ${seed}`].filter((part) => part !== '').join(' ');
}
