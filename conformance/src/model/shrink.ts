// Makes a failing scenario as short as possible (delta debugging): removes runs of commands, then single commands, then simplifies the
// rest, as long as the scenario still fails. It does not know how a scenario is played.
import type { ModelCommand, PlannedQueue, Scenario } from './command.ts';

export type ShrinkSetting = {
  /** Whether the scenario still fails. */
  readonly fails: (scenario: Scenario) => Promise<boolean>;
  /** Whether there is still time to try. */
  readonly hasTime: () => boolean;
};

/** The shortest failing scenario that was found; the given one when nothing shorter fails. */
export async function shrink(scenario: Scenario, shrinking: ShrinkSetting): Promise<Scenario> {
  const shorter = await withoutChunks(scenario, shrinking);
  return simplified(shorter, shrinking);
}

async function withoutChunks(scenario: Scenario, { fails, hasTime }: ShrinkSetting): Promise<Scenario> {
  let best = scenario;
  for (
    let size = Math.ceil(best.commands.length / 2);
    size >= 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    let at = 0;
    while (at < best.commands.length) {
      if (!hasTime()) return best;
      const commands = [...best.commands.slice(0, at), ...best.commands.slice(at + size)];
      const candidate = { ...best, commands };
      if (await fails(candidate)) best = candidate;
      else at += size;
    }
  }
  return best;
}

/** Tries a simpler form of each command and queue once, and keeps each one that still fails. */
async function simplified(scenario: Scenario, { fails, hasTime }: ShrinkSetting): Promise<Scenario> {
  let best = scenario;
  for (const candidateOf of [...scenario.commands.keys()]
    .map(simplerCommand)
    .concat([...scenario.queues.keys()].flatMap(simplerQueues))) {
    const candidate = candidateOf(best);
    if (candidate === undefined) continue;
    if (!hasTime()) return best;
    if (await fails(candidate)) best = candidate;
  }
  return best;
}

type Candidate = (scenario: Scenario) => Scenario | undefined;

function simplerCommand(at: number): Candidate {
  return (scenario) => {
    const command = scenario.commands[at];
    const plain = command === undefined ? undefined : simpleForm(command);
    if (plain === undefined) return undefined;
    return { ...scenario, commands: scenario.commands.with(at, plain) };
  };
}

function simpleForm(command: ModelCommand): ModelCommand | undefined {
  switch (command.kind) {
    case 'publish': {
      const { kind, by, queue, payload, priority } = command;
      const isPlain = payload === '1' && priority === undefined;
      return isPlain || command.repeat !== undefined ? undefined : { kind, by, queue, payload: '1' };
    }
    case 'ack':
      return command.form === 'id' && command.pick === 0 ? undefined : { ...command, form: 'id', pick: 0 };
    case 'leave':
      return command.how === 'reset' ? undefined : { ...command, how: 'reset' };
    default:
      return undefined;
  }
}

const simpleOptions: readonly Partial<PlannedQueue>[] = [
  { deadLetters: 'none', overflowStrategy: 'DropOldest' },
  { overflowStrategy: 'DropOldest' },
  { maxQueueSize: 10_000 },
  { maxRetryAttempts: 3 },
];

function simplerQueues(at: number): readonly Candidate[] {
  return simpleOptions.map((plain) => (scenario) => {
    const queue = scenario.queues[at];
    if (queue === undefined) return undefined;
    const plainQueue = { ...queue, ...plain };
    if (JSON.stringify(plainQueue) === JSON.stringify(queue)) return undefined;
    return { ...scenario, queues: scenario.queues.with(at, plainQueue) };
  });
}
