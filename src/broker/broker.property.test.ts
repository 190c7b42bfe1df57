// Random scenarios against the naive broker: after every input all that can be seen of the core must be what the model
// shows, and the audit must find every promise kept. TRUEMQ_RUNS asks for more runs per property.

import fc from 'fast-check';
import { describe, it } from 'vitest';
import {
  calmParameters,
  play,
  type ScenarioParameters,
  scenarios,
  settingsOf,
  wildParameters,
} from '../testing/broker-scenarios.ts';
import { ComparedBrokers } from '../testing/compared-brokers.ts';
import { listPacking } from '../testing/list-packing.ts';
import { runsOf } from '../testing/property-runs.ts';
import { Broker } from './broker.ts';

const given = process.env['TRUEMQ_RUNS'];
const runs = given === undefined ? runsOf(120) : Number(given);

function agreesWithTheModel(parameters: ScenarioParameters): void {
  const settings = settingsOf(parameters);
  const property = fc.property(scenarios(parameters), (moves) => {
    play(moves, new ComparedBrokers(new Broker({ ...settings, packing: listPacking() }), settings), settings);
  });
  fc.assert(property, { numRuns: runs, includeErrorInReport: true });
}

describe('the core does what the naive broker does', () => {
  it('in RoundRobin', () => agreesWithTheModel(calmParameters));

  it('in PriorityBased', () => agreesWithTheModel({ ...calmParameters, modes: [3] }));

  it('in FanOutWithAck', () => agreesWithTheModel({ ...calmParameters, modes: [1] }));

  it('in FanOutWithoutAck', () => agreesWithTheModel({ ...calmParameters, modes: [2] }));

  it('with full queues', () => agreesWithTheModel({ ...wildParameters, ttls: [undefined], drains: false }));

  it('with messages that expire', () =>
    agreesWithTheModel({ ...calmParameters, modes: [0, 1, 2, 3], ttls: [600, 1700], deadLetters: true }));

  it('with dead letter queues shared, in a row and in a circle', () =>
    agreesWithTheModel({
      ...wildParameters,
      ttls: [undefined],
      deadLetterNames: [undefined, 'a', 'b', 'a.dlq'],
      settings: { ...wildParameters.settings, enableAutoCreate: false },
    }));

  it('called late', () =>
    agreesWithTheModel({
      ...calmParameters,
      modes: [0, 1, 2, 3],
      strategies: [0, 1, 2],
      sizes: [1, 3, 100],
      ttls: [undefined, 600, 1700],
      oversleeps: true,
    }));

  it('with users whose rights change [AUTH-016, AUTH-017, AUTH-020, AUTH-022, AUTH-023, AUTH-026, AUTH-027]', () =>
    agreesWithTheModel({ ...wildParameters, users: true }));

  it('with everything at once', () => agreesWithTheModel(wildParameters));
});
