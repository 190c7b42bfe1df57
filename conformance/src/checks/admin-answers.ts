// Checks of answers to admin commands that are longer than a frame may be. Areas: FRAME, AUTH.
import type { Check, CheckModule } from '../check.ts';
import { adminCommand } from './shared/admin-commands.ts';
import { connectAsSuperuser, grant, newUser, withUsers } from './shared/users.ts';

const maxMessageSizeBytes = 4096;

export const adminAnswerChecks: CheckModule = [
  // FRAME-025 (SHOULD): The broker sends Error MESSAGE_TOO_LARGE with the id of the command instead of an answer that
  // does not fit into a frame.
  {
    id: 'FRAME-025b',
    title: 'answers AdminGetUserPermissions with MESSAGE_TOO_LARGE when the entries do not fit into a frame',
    clauses: ['FRAME-025', 'FRAME-018'],
    ...withUsers,
    // A broker may have a limit that cannot be configured.
    prefers: { ...withUsers.prefers, limits: { maxMessageSizeBytes } },
    evidence: { frames: 22, assertions: 2 },
    run: async (ctx) => {
      if (ctx.target.maxMessageSizeBytes > maxMessageSizeBytes)
        ctx.notApplicable(
          `MaxMessageSize is ${ctx.target.maxMessageSizeBytes}: it takes too many entries to exceed it`,
        );
      const admin = await connectAsSuperuser(ctx);
      const user = await newUser(ctx, admin, 'user');
      for (let index = 0; index < 20; index += 1) {
        const queuePattern = `${ctx.queue(`name-${index}`)}-`.padEnd(250, 'n');
        await grant(admin, user, { queuePattern, operations: ['Publish'] });
      }
      const { username } = user;
      const command = adminCommand(ctx, 'AdminGetUserPermissions', { username });
      const answer = await admin.request(command, { clause: 'FRAME-025' });
      ctx.assert.equal(answer.commandName, 'Error', 'the answer to AdminGetUserPermissions');
      ctx.assert.equal(answer.errorCode, 'MESSAGE_TOO_LARGE', 'the error code');
    },
  },
] satisfies readonly Check[];
