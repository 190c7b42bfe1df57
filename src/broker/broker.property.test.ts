// Random scenarios against the naive broker: after every input all that can be seen of the core must be what the model
// shows, and the audit must find every promise kept. TRUEMQ_RUNS asks for more runs per property.

import fc from 'fast-check';
import { describe, it } from 'vitest';
import {
  calmWorld,
  play,
  scenarios,
  settingsOf,
  type World,
  wildWorld,
} from '../testing/broker-scenarios.ts';
import { ComparedBrokers } from '../testing/compared-brokers.ts';
import { Broker } from './broker.ts';

const given = process.env['TRUEMQ_RUNS'];
const runs = given === undefined ? 120 : Number(given);

function agreesWithTheModel(world: World): void {
  const settings = settingsOf(world);
  const property = fc.property(scenarios(world), (moves) => {
    play(moves, new ComparedBrokers(new Broker(settings), settings), settings);
  });
  fc.assert(property, { numRuns: runs, includeErrorInReport: true });
}

describe('the core does what the naive broker does', () => {
  it('in RoundRobin', () => agreesWithTheModel(calmWorld));

  it('in PriorityBased', () => agreesWithTheModel({ ...calmWorld, modes: [3] }));

  it('in FanOutWithAck', () => agreesWithTheModel({ ...calmWorld, modes: [1] }));

  it('in FanOutWithoutAck', () => agreesWithTheModel({ ...calmWorld, modes: [2] }));

  it('with full queues', () => agreesWithTheModel({ ...wildWorld, ttls: [undefined], drains: false }));

  it('with messages that expire', () =>
    agreesWithTheModel({ ...calmWorld, modes: [0, 1, 2, 3], ttls: [600, 1700], deadLetters: true }));

  it('with dead letter queues shared, in a row and in a circle', () =>
    agreesWithTheModel({
      ...wildWorld,
      ttls: [undefined],
      deadLetterNames: [undefined, 'a', 'b', 'a.dlq'],
      settings: { ...wildWorld.settings, enableAutoCreate: false },
    }));

  it('called late', () =>
    agreesWithTheModel({
      ...calmWorld,
      modes: [0, 1, 2, 3],
      strategies: [0, 1, 2],
      sizes: [1, 3, 100],
      ttls: [undefined, 600, 1700],
      oversleeps: true,
    }));

  it('with everything at once', () => agreesWithTheModel(wildWorld));
});
