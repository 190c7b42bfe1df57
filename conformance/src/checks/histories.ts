// Checks of whole histories: many messages under publishers and subscribers that leave without a word, at random, and at the end an
// account of all of them. What each message did is not foreseen; that none is lost, made up or delivered too often is. Areas:
// PUBLISH, DELIVERY.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { DeliveryMode } from '../history/operation.ts';
import { deliveryModes } from '../history/operation.ts';
import { newQueue } from './shared/queue-state.ts';
import { RandomClients } from './shared/random-clients.ts';

const roundCount = 30;
/** Each cut may cost a rest of its message that doubles; so few keep the longest rest short. */
const maxDisconnects = 8;
/** That a delivery that was cut short is no failed attempt is only recommended: no message may use up its attempts by that. */
const maxRetryAttempts = 100;

export const historyChecks: CheckModule = [
  {
    id: 'DELIVERY-006b',
    title:
      'loses and repeats no message of a RoundRobin queue while publishers and subscribers leave abruptly',
    clauses: ['DELIVERY-006', 'PUBLISH-002', 'DELIVERY-011', 'DELIVERY-035', 'DELIVERY-038', 'DELIVERY-050'],
    ...common(),
    run: (ctx) => playHistory(ctx, 'RoundRobin'),
  },
  {
    id: 'DELIVERY-014b',
    title:
      'gives each FanOutWithAck subscriber each message once while publishers and subscribers leave abruptly',
    clauses: ['DELIVERY-014', 'PUBLISH-002', 'DELIVERY-006', 'DELIVERY-015', 'DELIVERY-016'],
    ...common(),
    run: (ctx) => playHistory(ctx, 'FanOutWithAck'),
  },
  {
    id: 'DELIVERY-024b',
    title:
      'gives each FanOutWithoutAck subscriber each message once while publishers and subscribers leave abruptly',
    clauses: ['DELIVERY-024', 'PUBLISH-002', 'DELIVERY-025', 'DELIVERY-026'],
    ...common(),
    run: (ctx) => playHistory(ctx, 'FanOutWithoutAck'),
  },
  {
    id: 'DELIVERY-030b',
    title:
      'loses and repeats nothing of a PriorityBased queue while publishers and subscribers leave abruptly',
    clauses: ['DELIVERY-030', 'PUBLISH-002', 'DELIVERY-006', 'DELIVERY-038', 'DELIVERY-050'],
    ...common(),
    run: (ctx) => playHistory(ctx, 'PriorityBased'),
  },
] satisfies readonly Check[];

function common(): Pick<Check, 'profile' | 'broad' | 'evidence' | 'prefers'> {
  return {
    profile: 'model',
    broad: true,
    evidence: { frames: 300, messages: 60, assertions: 100 },
    prefers: { timing: { retryDelayMs: 20 } },
  };
}

async function playHistory(ctx: CheckContext, mode: DeliveryMode): Promise<void> {
  const history = ctx.recordHistory();
  const witness = await ctx.connect();
  const queue = await newQueue(ctx, witness, 'crowded', {
    mode: deliveryModes.indexOf(mode),
    maxRetryAttempts: maxRetryAttempts,
  });
  const clients = new RandomClients(ctx, { queue, witness, maxDisconnects });
  for (let round = 0; round < roundCount; round += 1) await clients.playRound();
  await clients.drain();
  history.settle({ queues: { [queue]: { mode } }, drained: [queue] });
}
