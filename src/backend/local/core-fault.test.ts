// A fault of our own in the core: the command is told, nothing of its batch is kept, and the broker goes on with what the store has.

import { expect, it } from 'vitest';
import type { Effect } from '../../broker/interface/effect.ts';
import type { Input } from '../../broker/interface/input.ts';
import { KeptContent } from '../../gateway/kept-content.ts';
import type { LogFields } from '../../model/logger.ts';
import { openMemoryStore } from '../../storage/memory/memory-store.ts';
import { testSettings } from '../../testing/broker-harness.ts';
import { anyContent } from '../../testing/test-content.ts';
import { VirtualEnvironment } from '../../testing/virtual-environment.ts';
import { LocalBackend } from './local-backend.ts';

async function servingBackend() {
  const environment = new VirtualEnvironment();
  const [effects, states, logged]: [Effect[], string[], (LogFields | undefined)[]] = [[], [], []];
  const log = (_sentence: string, fields?: LogFields) => void logged.push(fields);
  const backend = new LocalBackend(testSettings, {
    environment,
    openStore: async () => openMemoryStore(),
    logger: { error: log, warn: log, info: () => undefined, debug: log },
    keepContent: (bytes) => KeptContent.copyOf(bytes),
  });
  const starting = backend.start({
    effects: (all) => void effects.push(...all),
    processed: () => undefined,
    stateChanged: ({ kind }) => void states.push(kind),
  });
  await environment.settle();
  await starting;
  return { environment, backend, effects, states, logged };
}

function publish(connection: number, id: string): Input {
  const content = anyContent(100);
  return { kind: 'publish', connection, token: id, queue: 'q', id, priority: 1, content };
}

it('answers the command by SERVER_ERROR, refuses the uncommitted publishes, and recovers [ERROR-005]', async () => {
  const { environment, backend, effects, states, logged } = await servingBackend();
  backend.submit({ kind: 'connected', connection: 1 });
  backend.submit(publish(1, 'before'));
  // The core does not know this connection, which no input of the gateway can bring about.
  backend.submit({ kind: 'subscribe', connection: 7, token: 'culprit', queue: 'q' });
  backend.submit(publish(1, 'behind'));
  await environment.settle();
  expect(effects).toMatchObject([
    { kind: 'refused', token: 'before', code: 'STORAGE_ERROR' },
    { kind: 'refused', token: 'culprit', code: 'SERVER_ERROR' },
    { kind: 'refused', token: 'behind', code: 'STORAGE_ERROR' },
  ]);
  expect(backend.state.kind).toBe('failed');
  expect(logged[0]).toMatchObject({ input: 'subscribe', error: 'Connection 7 is not known to the broker.' });
  await environment.advance(1000);
  expect(states).toEqual(['serving', 'failed', 'serving']);
  backend.submit({ kind: 'connected', connection: 2 });
  backend.submit(publish(2, 'after'));
  await environment.settle();
  expect(effects.slice(3)).toMatchObject([{ kind: 'answered', token: 'after' }]);
  await backend.close();
});
