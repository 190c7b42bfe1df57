// Draws random scenarios from a seed: a few queues of any mode, a few connections, and commands that mostly make sense. All numbers are
// small, so that limits are reached. Left out: blocked publishers (a broker may then stop reading, and answers no question), message TTLs
// and ack timeouts (the verdict would depend on time).
import type { DeliveryMode } from '../history/operation.ts';
import type { Random } from '../random.ts';
import type { ModelCommand, PlannedQueue, Scenario } from './command.ts';
import { failureReasons } from './command.ts';

export type ScenarioChoices = {
  /** The broker announced negative acknowledgments. */
  readonly nack: boolean;
  /** Connections may end and be replaced: not on a broker that limits connections. */
  readonly leaving: boolean;
  readonly modes: readonly DeliveryMode[];
};

const connectionCount = 3;

export function randomScenario(random: Random, choices: ScenarioChoices): Scenario {
  const queueCount = random.integer(1, 2);
  const queues = Array.from({ length: queueCount }, () => randomQueue(random, choices.modes));
  const creations = queues.map((_, queue): ModelCommand => ({ kind: 'create', by: 0, queue, as: 'planned' }));
  const commandCount = random.integer(15, 45);
  const drawn = Array.from({ length: commandCount }, () => randomCommand(random, queueCount, choices));
  return { queues, connectionCount, commands: [...creations, ...drawn] };
}

function randomQueue(random: Random, modes: readonly DeliveryMode[]): PlannedQueue {
  const deadLetters = pick(random, ['none', 'generated name', 'own name'] as const);
  const dropping = ['DropOldest', 'DropOldest', 'DropNewest'] as const;
  const strategies = deadLetters === 'none' ? dropping : [...dropping, 'RedirectToDlq' as const];
  return {
    mode: pick(random, modes),
    maxQueueSize: pick(random, [2, 3, 10_000]),
    overflowStrategy: pick(random, strategies),
    maxRetryAttempts: random.integer(1, 3),
    deadLetters,
  };
}

type Draw = (random: Random, queueCount: number) => ModelCommand;

const who = (random: Random): number => random.integer(0, connectionCount - 1);
const which = (random: Random, queueCount: number): number => random.integer(0, queueCount - 1);
const payloads = ['1', '{"n":1.50}', '"text \\u0041"', '[false,null]', ' {"a" : "b"} ', ''] as const;
const priorities = ['Low', 'Normal', 'High', 'Critical'] as const;

const draws: readonly {
  readonly weight: number;
  readonly needs?: 'nack' | 'leaving';
  readonly draw: Draw;
}[] = [
  { weight: 30, draw: publish },
  {
    weight: 12,
    draw: (random, count) => ({ kind: 'subscribe', by: who(random), queue: which(random, count) }),
  },
  {
    weight: 2,
    draw: (random, count) => ({
      kind: 'subscribeToDeadLetters',
      by: who(random),
      queue: which(random, count),
    }),
  },
  {
    weight: 4,
    draw: (random, count) => ({ kind: 'unsubscribe', by: who(random), queue: which(random, count) }),
  },
  {
    weight: 20,
    draw: (random) => ({
      kind: 'ack',
      by: who(random),
      pick: random.integer(0, 3),
      form: pick(random, ['id', 'id', 'id and queue', 'header messageId']),
    }),
  },
  { weight: 2, draw: (random) => ({ kind: 'ackAgain', by: who(random), pick: random.integer(0, 3) }) },
  { weight: 3, draw: (random) => ({ kind: 'ackForeign', by: who(random), pick: random.integer(0, 3) }) },
  {
    weight: 10,
    needs: 'nack',
    draw: (random) => ({
      kind: 'nack',
      by: who(random),
      pick: random.integer(0, 3),
      reason: pick(random, [failureReasons[0], failureReasons[0], failureReasons[1]]),
    }),
  },
  { weight: 2, draw: create },
  { weight: 2, draw: (random, count) => ({ kind: 'delete', by: who(random), queue: which(random, count) }) },
  { weight: 12, draw: (random, count) => ({ kind: 'info', by: who(random), queue: which(random, count) }) },
  { weight: 2, draw: (random) => ({ kind: 'list', by: who(random) }) },
  {
    weight: 5,
    needs: 'leaving',
    draw: (random) => ({ kind: 'leave', by: who(random), how: pick(random, ['reset', 'Disconnect']) }),
  },
];

function publish(random: Random, queueCount: number): ModelCommand {
  const priority = random.integer(0, 1) === 0 ? {} : { priority: pick(random, priorities) };
  const repeat = random.integer(0, 7) === 0 ? { repeat: random.integer(0, 5) } : {};
  const queue = which(random, queueCount);
  return { kind: 'publish', by: who(random), queue, payload: pick(random, payloads), ...priority, ...repeat };
}

function create(random: Random, queueCount: number): ModelCommand {
  const as = pick(random, ['planned', 'planned', 'other options', 'no options'] as const);
  return { kind: 'create', by: who(random), queue: which(random, queueCount), as };
}

function randomCommand(random: Random, queueCount: number, choices: ScenarioChoices): ModelCommand {
  const possible = draws.filter(({ needs }) => needs === undefined || choices[needs]);
  let left = random.fraction() * possible.reduce((sum, { weight }) => sum + weight, 0);
  const drawn = possible.find(({ weight }) => {
    left -= weight;
    return left < 0;
  });
  return (drawn ?? possible[0] ?? { draw: publish }).draw(random, queueCount);
}

function pick<T>(random: Random, all: readonly [T, ...T[]] | readonly T[]): T {
  const chosen = all[random.integer(0, all.length - 1)];
  if (chosen === undefined) throw new Error('there is nothing to pick from');
  return chosen;
}
