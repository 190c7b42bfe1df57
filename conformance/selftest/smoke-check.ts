// A check that every mutant must pass: a fault that prevents the handshake would make all checks fail and prove nothing. Only the self-test
// has its requirement.
import type { Check } from '../src/check.ts';
import type { Requirement } from '../src/suite-data.ts';

export const smokeRequirement: Requirement = {
  id: 'SMOKE-000',
  level: 'MUST',
  sentence: 'A mutant takes a connection, answers Connect with ConnectAck and Ping with Pong.',
};

export const smokeCheck: Check = {
  id: 'SMOKE-000a',
  title: 'answers Connect and Ping',
  clauses: ['SMOKE-000'],
  profile: 'core',
  evidence: { frames: 2 },
  run: async (ctx) => {
    const connection = await ctx.connect();
    await connection.send({ command: 10, id: ctx.id() });
    await connection.expect('Pong', { clause: 'SMOKE-000' });
  },
};
