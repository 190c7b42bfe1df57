// Plays random scenarios until the time is over. When one fails, it searches the shortest scenario that fails too, and reports that one
// with its own trace. Areas: QUEUE, PUBLISH, OVERFLOW, DELIVERY, DLQ, NACK.
import type { CheckContext } from '../check.ts';
import type { Connection } from '../connection.ts';
import { ExpectationFailure, PrerequisiteMissing } from '../expectation.ts';
import type { DeliveryMode } from '../history/operation.ts';
import { announcedBy } from '../observation/capabilities.ts';
import { randomFor } from '../random.ts';
import type { TraceEvent } from '../trace.ts';
import { BrokenRule } from './broker-model.ts';
import type { Scenario } from './command.ts';
import { scenarioLines } from './command.ts';
import { Player } from './player.ts';
import type { ScenarioChoices } from './scenario.ts';
import { randomScenario } from './scenario.ts';
import { shrink } from './shrink.ts';
import type { Difference, ModelQueueOptions } from './state.ts';

/** At most this many are played, fewer on a slow machine. A pass needs `minScenarios` that were played to the end. */
const maxScenarios = 80;
const minScenarios = 24;
/** Scenarios that run at the same time, each with its own queues and connections: most of the time they wait for answers. */
const laneCount = 4;
/** Shares of `ctx.timing.checkMs`: 9 s and 21 s. */
const exploringShare = 0.15;
const shrinkingShare = 0.35;
/** While a scenario is shrunk, the wait for a missing delivery has this share of the usual time; the result is played with the full time. */
const shortWaitShare = 1 / 8;
/** A failure beside other scenarios is confirmed when the scenario fails alone too, in one of this many plays .. */
const confirmingPlays = 3;
const notReproduced = `it did not fail again when played alone ${confirmingPlays} times`;
/** .. or when this many scenarios failed once: that is no chance. */
const maxUnconfirmed = 3;
/** Deliveries are held while a scenario is played: no ack timeout may pass meanwhile. */
const minAckTimeoutMs = 10_000;

type Play = {
  readonly failure: BrokenRule | ExpectationFailure | undefined;
  readonly differences: readonly Difference[];
  readonly trace: readonly TraceEvent[];
  readonly isGivenUp: boolean;
};

/** `number`: from 1, in the order in which a seed draws them. */
type Failed = { readonly number: number; readonly scenario: Scenario; readonly play: Play };

export async function explore(ctx: CheckContext, modes: readonly DeliveryMode[]): Promise<void> {
  if (ctx.target.ackTimeoutMs < minAckTimeoutMs)
    throw new PrerequisiteMissing(
      `the ack timeout is ${ctx.target.ackTimeoutMs} ms; scenarios need ${minAckTimeoutMs} ms`,
    );
  await new Exploration(ctx, modes).run();
}

/** A scenario that was abandoned, because the model had too many states, proves nothing. */
export function isEnough(playCount: number, givenUpCount: number): boolean {
  return playCount - givenUpCount >= minScenarios;
}

export function playedText(playCount: number, givenUpCount: number): string {
  const givenUp = givenUpCount === 0 ? '' : `, ${givenUpCount} of them not to the end`;
  const tooFew = isEnough(playCount, givenUpCount) ? '' : `; ${minScenarios} have to be played to it`;
  return `${playCount} scenarios were played${givenUp}${tooFew}`;
}

class Exploration {
  readonly #ctx: CheckContext;
  readonly #modes: readonly DeliveryMode[];
  readonly #warnedAbout = new Set<string>();
  readonly #defaults: ModelQueueOptions | undefined;
  #spares: Connection[] = [];
  #nameCount = 0;
  #drawnCount = 0;
  #playCount = 0;
  #givenUpCount = 0;
  #hasFailed = false;

  constructor(ctx: CheckContext, modes: readonly DeliveryMode[]) {
    this.#ctx = ctx;
    this.#modes = modes;
    this.#defaults = knownDefaults(ctx);
  }

  async run(): Promise<void> {
    const choices = await this.#choices();
    const until = this.#ctx.now() + this.#ctx.timing.checkMs * exploringShare;
    const unconfirmed: Failed[] = [];
    for (let failures = await this.#explore(choices, until); failures.length > 0; ) {
      for (const failed of failures) {
        await this.#confirm(failed);
        unconfirmed.push(failed);
        this.#ctx.note(unconfirmedText(failed, this.#ctx.seed));
      }
      const [first] = unconfirmed;
      if (first !== undefined && unconfirmed.length >= maxUnconfirmed) this.#fail(first, first.play, false);
      failures = await this.#explore(choices, until);
    }
    const shown = playedText(this.#playCount, this.#givenUpCount);
    if (!this.#hasShownEnough) throw new PrerequisiteMissing(shown);
    this.#ctx.note(shown);
  }

  get #hasShownEnough(): boolean {
    return isEnough(this.#playCount, this.#givenUpCount);
  }

  /** Runs all lanes until the time is over or a scenario fails. Returns the failures, the shortest scenario first. */
  async #explore(choices: ScenarioChoices, until: number): Promise<readonly Failed[]> {
    this.#hasFailed = false;
    const lanes = Array.from({ length: laneCount }, () => this.#lane(choices, until));
    const failures = (await Promise.all(lanes)).filter((failure) => failure !== undefined);
    return failures.sort((a, b) => a.scenario.commands.length - b.scenario.commands.length);
  }

  /** Plays one scenario after another until the time is over, or one of any lane fails. */
  async #lane(choices: ScenarioChoices, until: number): Promise<Failed | undefined> {
    const hasTime = (): boolean => !this.#hasShownEnough || this.#ctx.now() < until;
    while (!this.#hasFailed && this.#drawnCount < maxScenarios && hasTime()) {
      this.#drawnCount += 1;
      const number = this.#drawnCount;
      const scenario = this.#draw(number, choices);
      const play = await this.#play(scenario, 1, true);
      this.#playCount += 1;
      if (play.isGivenUp) this.#givenUpCount += 1;
      for (const difference of play.differences) this.#warn(difference, scenario);
      if (play.failure === undefined) continue;
      this.#hasFailed = true;
      return { number, scenario, play };
    }
    return undefined;
  }

  /** The same scenario for the same number of the same seed, whichever lane plays it and however fast the others are. */
  #draw(number: number, choices: ScenarioChoices): Scenario {
    return randomScenario(randomFor(this.#ctx.seed, `scenario ${number} of ${this.#modes.join()}`), choices);
  }

  /** Warns once for each recommendation, with the first scenario that shows the difference. */
  #warn({ clause, text }: Difference, scenario: Scenario): void {
    if (this.#warnedAbout.has(clause)) return;
    this.#warnedAbout.add(clause);
    this.#ctx.warn(clause, text, { actual: scenarioLines(scenario) });
  }

  async #choices(): Promise<ScenarioChoices> {
    const connection = await this.#connect();
    this.#spares.push(connection);
    const nack = this.#ctx.target.capabilities.has('nack') && announcedBy(connection.connectAck).has('nack');
    return { nack, leaving: !this.#ctx.target.countsConnections, modes: this.#modes };
  }

  /** `patience`: the share of the usual wait for a delivery. */
  async #play(scenario: Scenario, patience: number, mayShare: boolean): Promise<Play> {
    this.#ctx.trace.takeAll();
    this.#nameCount += 1;
    const player = new Player(this.#ctx, scenario, {
      deliveryMs: this.#ctx.timing.deliveryMs * patience,
      defaults: this.#defaults,
      known: this.#warnedAbout,
      connect: () => this.#connect(mayShare),
      name: `s${this.#nameCount}`,
    });
    try {
      const differences = await player.play();
      await player.cleanUp();
      this.#spares.push(...player.connections);
      return { failure: undefined, differences, trace: [], isGivenUp: player.isGivenUp };
    } catch (error) {
      if (!(error instanceof BrokenRule || error instanceof ExpectationFailure)) throw error;
      const trace = this.#ctx.trace.takeAll();
      for (const connection of player.connections) await connection.abort();
      return { failure: error, differences: [], trace, isGivenUp: false };
    }
  }

  async #connect(mayShare = true): Promise<Connection> {
    const spare = mayShare ? this.#spares.pop() : undefined;
    return spare === undefined || spare.isClosed ? this.#ctx.connect({ own: true }) : spare;
  }

  /** Plays it again, alone. If it fails again, throws the failure with the shortest scenario that shows it. */
  async #confirm(failed: Failed): Promise<void> {
    for (let time = 0; time < confirmingPlays; time += 1) {
      const play = await this.#play(failed.scenario, 1, false);
      if (play.failure !== undefined) return this.#shrink(failed, play);
    }
  }

  async #shrink(failed: Failed, confirmed: Play): Promise<never> {
    const until = this.#ctx.now() + this.#ctx.timing.checkMs * shrinkingShare;
    const shortest = await shrink(failed.scenario, {
      fails: async (candidate) => {
        const { failure } = await this.#play(candidate, shortWaitShare, false);
        return failure !== undefined && clauseOf(failure) === clauseOf(confirmed.failure);
      },
      hasTime: () => this.#ctx.now() < until,
    });
    const again = await this.#play(shortest, 1, false);
    if (again.failure === undefined) return this.#fail(failed, confirmed, true);
    return this.#fail({ ...failed, scenario: shortest }, again, true);
  }

  #fail({ number, scenario }: Failed, { failure, trace }: Play, isConfirmed: boolean): never {
    this.#ctx.trace.replaceAll(trace);
    throw failureOf(failure, {
      which: `scenario ${number} of seed ${this.#ctx.seed}`,
      scenario,
      isConfirmed,
    });
  }
}

/** Identifies a failure: one that breaks another rule is another failure. */
function clauseOf(failure: Play['failure']): string | undefined {
  return failure instanceof BrokenRule ? failure.breach.clause : failure?.clause;
}

function failureOf(
  failure: Play['failure'],
  told: { readonly which: string; readonly scenario: Scenario; readonly isConfirmed: boolean },
): ExpectationFailure {
  const again = told.isConfirmed ? '' : ` (${notReproduced}; it is one of ${maxUnconfirmed} such scenarios)`;
  return new ExpectationFailure('every random scenario has an outcome that the specification allows', {
    expected: 'an outcome that the specification allows, whatever it leaves open',
    actual: [`${textOf(failure)}${again}`, `${told.which}:`, ...scenarioLines(told.scenario)].join('\n'),
    clause: clauseOf(failure),
  });
}

function unconfirmedText({ number, play }: Failed, seed: number): string {
  return `scenario ${number} of seed ${seed} failed once: ${textOf(play.failure)}; ${notReproduced}`;
}

function textOf(failure: Play['failure']): string {
  if (failure instanceof BrokenRule) return failure.breach.text;
  return `${failure?.message ?? ''}: ${failure?.actual ?? ''}`;
}

/** The options of an auto-created queue, if the target has queue defaults and auto-creation. */
function knownDefaults({ target }: CheckContext): ModelQueueOptions | undefined {
  const defaults = target.queueDefaults;
  if (defaults?.enableAutoCreate !== true) return undefined;
  return {
    mode: defaults.deliveryMode ?? 'RoundRobin',
    maxQueueSize: defaults.maxQueueSize ?? 10_000,
    overflowStrategy: 'DropOldest',
    maxRetryAttempts: 3,
    enableDeadLetterQueue: false,
    deadLetterQueue: '',
    deadLetterQueueName: undefined,
  };
}
