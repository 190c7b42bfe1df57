// What a mutant must still be able to do to count: a broker that cannot even shake hands is found by anybody. Its requirement is of
// the selftest alone.
import type { Check } from '../src/check.ts';
import type { Requirement } from '../src/suite-data.ts';

export const smokeRequirement: Requirement = {
  id: 'SMOKE-000',
  level: 'MUST',
  sentence: 'A mutant takes a connection, answers Connect with ConnectAck and Ping with Pong.',
};

export const smokeCheck: Check = {
  id: 'SMOKE-000a',
  title: 'shakes hands and answers a Ping',
  clauses: ['SMOKE-000'],
  profile: 'core',
  evidence: { frames: 2 },
  run: async (ctx) => {
    const connection = await ctx.connect();
    await connection.send({ command: 10, id: ctx.id() });
    await connection.expect('Pong', { clause: 'SMOKE-000' });
  },
};
