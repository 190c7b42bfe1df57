// Checks of histories: clients publish, acknowledge and disconnect at random. At the end the check accounts for all messages: no message
// is lost, unexpected, or delivered too often. Areas: PUBLISH, DELIVERY.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { DeliveryMode } from '../history/operation.ts';
import { deliveryModes } from '../history/operation.ts';
import { newQueue } from './shared/queue-state.ts';
import { RandomClients } from './shared/random-clients.ts';

const roundCount = 30;
/** Each interrupted delivery may double the backoff of its message, so a small number keeps the longest backoff short. */
const maxDisconnects = 8;
/** Enough attempts for a broker that counts interrupted deliveries as failed attempts: DELIVERY-040 is only recommended. */
const maxRetryAttempts = 100;

export const historyChecks: CheckModule = [
  // DELIVERY-006 (MUST): The broker never loses a message in flight: the message is acknowledged, dead-lettered,
  // discarded by a rule of this specification, deleted with its queue, or becomes waiting again.
  {
    id: 'DELIVERY-006b',
    title:
      'delivers each message of a RoundRobin queue once while publishers and subscribers disconnect abruptly',
    clauses: ['DELIVERY-006', 'PUBLISH-002', 'DELIVERY-011', 'DELIVERY-035', 'DELIVERY-038', 'DELIVERY-050'],
    ...common(),
    run: (ctx) => runRandomClients(ctx, 'RoundRobin'),
  },
  // DELIVERY-014 (MUST): In FanOutWithAck the broker delivers each message once to every subscriber that is subscribed
  // when it sends the first copy.
  {
    id: 'DELIVERY-014b',
    title: 'delivers each FanOutWithAck message once to each subscriber while clients disconnect abruptly',
    clauses: ['DELIVERY-014', 'PUBLISH-002', 'DELIVERY-006', 'DELIVERY-015', 'DELIVERY-016'],
    ...common(),
    run: (ctx) => runRandomClients(ctx, 'FanOutWithAck'),
  },
  // DELIVERY-024 (MUST): In FanOutWithoutAck the broker delivers each message to every subscriber that is subscribed
  // and whose connection is draining.
  {
    id: 'DELIVERY-024b',
    title: 'delivers each FanOutWithoutAck message once to each subscriber while clients disconnect abruptly',
    clauses: ['DELIVERY-024', 'PUBLISH-002', 'DELIVERY-025', 'DELIVERY-026'],
    ...common(),
    run: (ctx) => runRandomClients(ctx, 'FanOutWithoutAck'),
  },
  // DELIVERY-030 (MUST): In PriorityBased the broker delivers each message to exactly one subscriber.
  {
    id: 'DELIVERY-030b',
    title:
      'delivers each message of a PriorityBased queue once while publishers and subscribers disconnect abruptly',
    clauses: ['DELIVERY-030', 'PUBLISH-002', 'DELIVERY-006', 'DELIVERY-038', 'DELIVERY-050'],
    ...common(),
    run: (ctx) => runRandomClients(ctx, 'PriorityBased'),
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

async function runRandomClients(ctx: CheckContext, mode: DeliveryMode): Promise<void> {
  const history = ctx.recordHistory();
  const witness = await ctx.connect();
  const queue = await newQueue(ctx, witness, 'crowded', {
    mode: deliveryModes.indexOf(mode),
    maxRetryAttempts: maxRetryAttempts,
  });
  const clients = new RandomClients(ctx, { queue, witness, maxDisconnects });
  for (let round = 0; round < roundCount; round += 1) await clients.runRound();
  await clients.drain();
  history.judge({ queues: { [queue]: { mode } }, drained: [queue] });
}
