// Scenarios are made shorter only as long as they fail, and only while there is time.
import { describe, expect, it } from 'vitest';
import { randomFor } from '../random.ts';
import type { ModelCommand, Scenario } from './command.ts';
import { scenarioLines } from './command.ts';
import { randomScenario } from './scenario.ts';
import { shrink } from './shrink.ts';

const choices = { nack: true, leaving: true, modes: ['RoundRobin', 'PriorityBased'] } as const;

function kinds({ commands }: Scenario): readonly ModelCommand['kind'][] {
  return commands.map(({ kind }) => kind);
}

/** Fails when a queue is created, deleted after that, and listed after that. */
async function fails(scenario: Scenario): Promise<boolean> {
  const all = kinds(scenario);
  const created = all.indexOf('create');
  const deleted = all.indexOf('delete', Math.max(0, created));
  return created >= 0 && deleted > created && all.indexOf('list', deleted) > deleted;
}

describe('shrink', () => {
  it('finds the shortest scenario that still fails, whatever the seed', async () => {
    let shrunkCount = 0;
    for (let seed = 0; seed < 60; seed += 1) {
      const scenario = randomScenario(randomFor(seed, 'x'), choices);
      if (!(await fails(scenario))) continue;
      shrunkCount += 1;
      const shortest = await shrink(scenario, { fails, hasTime: () => true });
      expect(kinds(shortest)).toEqual(['create', 'delete', 'list']);
    }
    expect(shrunkCount).toBeGreaterThan(5);
  });

  it('leaves a scenario as it is when there is no time, or nothing shorter fails', async () => {
    const scenario = randomScenario(randomFor(1, 'x'), choices);
    expect(await shrink(scenario, { fails: async () => true, hasTime: () => false })).toEqual(scenario);
    expect(await shrink(scenario, { fails: async () => false, hasTime: () => true })).toEqual(scenario);
  });
});

describe('randomScenario', () => {
  it('is the same for the same seed, and another for another', () => {
    const text = (seed: number): string =>
      scenarioLines(randomScenario(randomFor(seed, 'x'), choices)).join('\n');
    expect(text(7)).toBe(text(7));
    expect(text(7)).not.toBe(text(8));
  });

  it('leaves out what the broker does not offer', () => {
    const all = Array.from({ length: 40 }, (_, seed) =>
      kinds(randomScenario(randomFor(seed, 'x'), { ...choices, nack: false, leaving: false })),
    ).flat();
    expect(all).not.toContain('nack');
    expect(all).not.toContain('leave');
    expect(all).toContain('ackForeign');
  });
});
