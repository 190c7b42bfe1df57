// The admin commands of the client library against a scripted broker: what it sends, and what it makes of the answers.

import { describe, expect, it } from 'vitest';
import { connectPair, payloadText } from '../testing/connected-pair.ts';
import type { Client } from './index.ts';

/** Lets the client send one admin command, and answers it with this payload; returns what was sent, and the result. */
async function exchanged<Result>(send: (client: Client) => Promise<Result>, answer?: unknown) {
  const { client, broker } = await connectPair();
  const result = send(client);
  const sent = await broker.take();
  const { command, id } = sent;
  broker.send({ command, id, ...(answer === undefined ? {} : { payload: JSON.stringify(answer) }) });
  return { command, queue: sent.queue, payload: payloadText(sent), result: await result };
}

describe('an admin command', () => {
  it.each<[string, number, (client: Client) => Promise<void>, unknown]>([
    ['createUser', 50, (client) => client.createUser('ann', 'pw'), { username: 'ann', password: 'pw' }],
    ['deleteUser', 51, (client) => client.deleteUser('ann'), { username: 'ann' }],
    [
      'changePassword',
      52,
      (client) => client.changePassword('ann', 'new'),
      { username: 'ann', newPassword: 'new' },
    ],
    [
      'grant',
      53,
      (client) => client.grant('ann', 'orders.*', ['Publish', 'ListQueues']),
      { username: 'ann', queuePattern: 'orders.*', operations: ['Publish', 'ListQueues'] },
    ],
    [
      'revoke',
      54,
      (client) => client.revoke('ann', 'orders.*'),
      { username: 'ann', queuePattern: 'orders.*' },
    ],
  ])(
    '%s sends command %i with its payload, and is done with the answer [CLIENT-001]',
    async (_, number, send, payload) => {
      const { command, queue, payload: sent } = await exchanged(send, { username: 'ann' });
      expect({ command, queue, payload: JSON.parse(sent) as unknown }).toEqual({
        command: number,
        queue: '',
        payload,
      });
    },
  );

  it('listUsers asks without payload and gives users with dates [CLIENT-001]', async () => {
    const { command, payload, result } = await exchanged(
      (client) => client.listUsers(),
      [{ username: 'vibemq', isSuperuser: true, createdAt: 1_795_213_571 }],
    );
    expect([command, payload]).toEqual([55, '']);
    expect(result).toEqual([
      { username: 'vibemq', isSuperuser: true, createdAt: new Date(1_795_213_571_000) },
    ]);
  });

  it('permissionsOf gives patterns and names of operations, also of a broker that writes numbers [CLIENT-001]', async () => {
    const { command, payload, result } = await exchanged(
      (client) => client.permissionsOf('ann'),
      [{ queuePattern: 'orders.*', operations: ['Publish', 1] }],
    );
    expect([command, payload]).toEqual([56, '{"username":"ann"}']);
    expect(result).toEqual([{ queuePattern: 'orders.*', operations: ['Publish', 'Subscribe'] }]);
  });

  it.each<[string, (client: Client) => Promise<unknown>]>([
    ['listUsers', (client) => client.listUsers()],
    ['permissionsOf', (client) => client.permissionsOf('ann')],
  ])('%s rejects an answer that cannot be read', async (_, send) => {
    for (const answer of [undefined, {}, [1], [null], [{ username: 'ann' }]]) {
      await expect(exchanged(send, answer)).rejects.toMatchObject({ code: 'UNREADABLE_ANSWER' });
    }
  });

  it('rejects with the code of the Error', async () => {
    const { client, broker } = await connectPair();
    const created = client.createUser('ann', 'pw');
    const { id } = await broker.take();
    broker.send({ command: 99, id, errorCode: 'USER_EXISTS', errorMessage: 'taken' });
    await expect(created).rejects.toMatchObject({ name: 'CommandError', code: 'USER_EXISTS' });
  });

  it('grant refuses a name that is no operation, and sends nothing', async () => {
    const { client } = await connectPair();
    await expect(client.grant('ann', '*', ['Fly' as 'Publish'])).rejects.toThrow(TypeError);
  });
});
