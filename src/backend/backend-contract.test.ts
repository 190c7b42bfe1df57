// Every backend keeps the promises of the port, and for each promise there is a broken backend that the suite finds.

import { describe, expect, it } from 'vitest';
import { backendContract } from '../testing/backend-contract.ts';
import type { NewBackend } from '../testing/backend-run.ts';
import { brokenBackends, brokenBy } from '../testing/broken-backends.ts';
import { testSettings } from '../testing/broker-harness.ts';
import { DelayedBackend } from '../testing/delayed-backend.ts';
import { contentOf } from '../testing/test-content.ts';
import { LocalBackend } from './local/local-backend.ts';

const logger = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {} };

const local: NewBackend = (parts) =>
  new LocalBackend(testSettings, { ...parts, logger, keepContent: contentOf });

function delayed(seed: number, maxDelayMs: number): NewBackend {
  return (parts) => {
    const { environment } = parts;
    return new DelayedBackend({ environment, remote: local(parts), seed, minDelayMs: 0, maxDelayMs });
  };
}

const backends = [
  ['the local backend', local],
  ['a backend one turn of the event loop away', delayed(1, 0)],
  ...[1, 2, 3, 4, 5].map((seed) => [`a delayed backend (seed ${seed})`, delayed(seed, 7)] as const),
] as const;

describe.each(backends)('%s', (_, newBackend) => {
  it.each(backendContract)('$name', async ({ run }) => {
    await expect(run(newBackend)).resolves.toBeUndefined();
  });
});

describe('the contract suite', () => {
  it.each(brokenBackends)('finds a backend that $fault', async (broken) => {
    const found: string[] = [];
    for (const { name, run } of backendContract) {
      await run(brokenBy(broken, local)).catch(() => void found.push(name));
    }
    expect(found).toContain(broken.foundBy);
  });

  it('has no case that no broken backend fails', () => {
    const finders = new Set(brokenBackends.map(({ foundBy }) => foundBy));
    expect(backendContract.map(({ name }) => name).filter((name) => !finders.has(name))).toEqual([]);
  });
});
