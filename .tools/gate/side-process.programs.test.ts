// The sides of the gate as processes: the real ones carry a load, and one that fails is a fault in the end, and never a wait without end.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleKeptSide, bundleSides, type Side, SideProcess, startSide } from './side-process.ts';

const order = { payloadBytes: 100, subscriberCount: 1, windowCount: 8, turnCount: 2 };
const folder = mkdtempSync(join(tmpdir(), 'truemq-gate-'));
const sides: Side[] = [];

async function program(text: string, patienceMs?: number): Promise<Side> {
  const path = join(folder, `${sides.length}.mjs`);
  writeFileSync(path, text);
  return kept(await SideProcess.start(path, [], patienceMs));
}

function kept(side: Side): Side {
  sides.push(side);
  return side;
}

beforeAll(async () => {
  await bundleSides();
  await bundleKeptSide(fileURLToPath(new URL('../..', import.meta.url)));
});

afterAll(() => {
  for (const side of sides) side.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe('a side of the gate', () => {
  it.each([
    ['broker', []],
    ['broker', ['planted']],
    ['kept', []],
    ['skeleton', []],
  ] as const)('carries the load: %s %j', async (name, args) => {
    const side = kept(await startSide(name, args));
    const { messageCount, turnsMs } = await side.ask(order);
    expect(messageCount).toBe(16);
    expect(turnsMs).toHaveLength(2);
  });

  it('is a fault when its process ends', async () => {
    const side = await program(
      "process.send({ kind: 'ready' }); process.on('message', () => process.exit(3));",
    );
    await expect(side.ask(order)).rejects.toThrow('the process ended with 3');
  });

  it('is a fault when its process ended between two orders', async () => {
    const side = await program(
      "process.send({ kind: 'ready' }); process.on('message', () => { process.send({ kind: 'figure' }); process.disconnect(); });",
    );
    await side.ask(order);
    await expect(side.ask(order)).rejects.toThrow('the process');
  });

  it('is a fault when its process does not start', async () => {
    await expect(program('process.exit(4);')).rejects.toThrow('the process ended with 4');
  });

  it('is a fault when its process does not answer', async () => {
    const side = await program(
      "process.send({ kind: 'ready' }); process.on('message', () => undefined);",
      2_000,
    );
    await expect(side.ask(order)).rejects.toThrow('the process did not answer in time');
  });

  it('is a fault when its load fails', async () => {
    const side = await program(
      "process.send({ kind: 'ready' }); process.on('message', () => process.send({ kind: 'fault', text: 'lost 3' }));",
    );
    await expect(side.ask(order)).rejects.toThrow('lost 3');
  });
});
