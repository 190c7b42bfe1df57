// A fault of our own while a command is translated or its answer made: it is that command's alone. The faults are planted in the two modules that
// translate, because those have none that a client could bring about.

import { afterAll, describe, expect, it, vi } from 'vitest';

// Files share loaded modules: this one needs its own, and leaves none behind.
vi.resetModules();
vi.doMock('./translate/commands.ts', { spy: true });
vi.doMock('./translate/answers.ts', { spy: true });
const { ping, publish, TestedBroker } = await import('../testing/tested-broker.ts');
const { translateCommand } = await import('./translate/commands.ts');
const { answerFields } = await import('./translate/answers.ts');

afterAll(() => {
  vi.doUnmock('./translate/commands.ts');
  vi.doUnmock('./translate/answers.ts');
  vi.resetModules();
});

function failOnce(): never {
  throw new Error('a case that nobody thought of');
}

describe('a command that cannot be translated', () => {
  it('gets SERVER_ERROR in its turn, and nothing else changes [ERROR-005, ERROR-006]', async () => {
    const tested = new TestedBroker();
    const [client, other] = [await tested.connect(), await tested.connect()];
    vi.mocked(translateCommand).mockImplementationOnce(failOnce);
    expect(await tested.exchange(client, publish('q', 'm1'), publish('q', 'm2'), ping())).toEqual([
      'Error m1 q SERVER_ERROR',
      'PublishAck m2 q',
      'Pong ping',
    ]);
    expect(await tested.exchange(other, ping())).toEqual(['Pong ping']);
    expect(tested.logged).toEqual(['a command failed']);
    expect(tested.broker.stats()).toMatchObject({ publishedCount: 1, errorsCount: 1 });
  });
});

describe('an answer that cannot be made', () => {
  it('is SERVER_ERROR, and the next commands are answered [ERROR-005, ERROR-006]', async () => {
    const tested = new TestedBroker();
    const client = await tested.connect();
    vi.mocked(answerFields).mockImplementationOnce(failOnce);
    const info = { command: 42, id: 'i', queue: 'q' };
    expect(await tested.exchange(client, info, { ...info, id: 'j' })).toEqual([
      'Error i q SERVER_ERROR',
      'QueueInfo j q',
    ]);
    expect(tested.logged).toEqual(['an answer could not be made']);
  });
});
