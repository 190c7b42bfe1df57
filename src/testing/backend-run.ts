// One backend as the contract suite uses it: in virtual time, over a virtual disk, with a receiver that records all events in order.

import type { Backend, BackendState } from '../backend/backend.ts';
import type { AnsweredEffect, Effect, RefusedEffect } from '../broker/interface/effect.ts';
import type { ConnectionId, Input, PublishInput, Token } from '../broker/interface/input.ts';
import type { Environment } from '../model/environment.ts';
import { Priority } from '../model/priority.ts';
import type { OpenStore } from '../storage/storage-provider.ts';
import { contentOf } from './test-content.ts';
import { VirtualDisk } from './virtual-disk.ts';
import { VirtualEnvironment } from './virtual-environment.ts';

/** Creates a backend over the given store. It answers within {@link ANSWER_MS}. */
export type NewBackend = (parts: {
  readonly environment: Environment;
  readonly openStore: OpenStore;
}) => Backend;

/** Longest time to an answer. Shorter than the backoff of a failed backend. */
export const ANSWER_MS = 50;
/** Longest time from the end of a store's failure to the end of the recovery. */
const RECOVERY_MS = 20_000;

export type Event =
  | { readonly kind: 'effect'; readonly effect: Effect }
  | { readonly kind: 'processed'; readonly input: Input }
  | { readonly kind: 'state'; readonly state: BackendState };

export class BackendRun {
  readonly environment = new VirtualEnvironment();
  readonly disk = new VirtualDisk();
  readonly backend: Backend;
  readonly events: Event[] = [];
  /** Called after each event. */
  onEvent: (event: Event) => void = () => undefined;

  constructor(newBackend: NewBackend) {
    this.backend = newBackend({ environment: this.environment, openStore: this.disk.openStore });
  }

  /** A backend that serves. */
  static async serving(newBackend: NewBackend): Promise<BackendRun> {
    const run = new BackendRun(newBackend);
    const started = run.start();
    await run.wait();
    await started;
    return run;
  }

  start(): Promise<void> {
    return this.backend.start({
      effects: (effects) => {
        for (const effect of effects) this.#note({ kind: 'effect', effect });
      },
      processed: (inputs) => {
        for (const input of inputs) this.#note({ kind: 'processed', input });
      },
      stateChanged: (state) => this.#note({ kind: 'state', state }),
    });
  }

  submit(...inputs: readonly Input[]): void {
    for (const input of inputs) this.backend.submit(input);
  }

  /** Submits inputs and waits for the answers. */
  async exchange(...inputs: readonly Input[]): Promise<void> {
    this.submit(...inputs);
    await this.wait();
  }

  wait(durationMs = ANSWER_MS): Promise<void> {
    return this.environment.advance(durationMs);
  }

  /** Makes the store fail at a publish of connection 1, then repairs it. */
  async failAndRecover(): Promise<void> {
    this.disk.isFull = true;
    await this.exchange(publish(1, 'lost'));
    this.disk.isFull = false;
    await this.wait(RECOVERY_MS);
  }

  /** The answers to one connection, in order: each token, with the code of a refusal. */
  answers(connection: ConnectionId): readonly string[] {
    return this.events.flatMap((event) => {
      if (event.kind !== 'effect' || event.effect.connection !== connection) return [];
      return isAnswer(event.effect) ? [describeAnswer(event.effect)] : [];
    });
  }

  /** The kinds of all effects for one connection, in order. */
  effectKinds(connection: ConnectionId): readonly Effect['kind'][] {
    return this.events.flatMap((event) =>
      event.kind === 'effect' && event.effect.connection === connection ? [event.effect.kind] : [],
    );
  }

  states(): readonly BackendState['kind'][] {
    return this.events.flatMap((event) => (event.kind === 'state' ? [event.state.kind] : []));
  }

  /** Without the backend's own inputs. */
  processed(): readonly Input[] {
    return this.events.flatMap((event) =>
      event.kind === 'processed' && event.input.kind !== 'tick' ? [event.input] : [],
    );
  }

  #note(event: Event): void {
    this.events.push(event);
    this.onEvent(event);
  }
}

export function connected(connection: ConnectionId): Input {
  return { kind: 'connected', connection };
}

export function barrier(connection: ConnectionId, token: Token): Input {
  return { kind: 'barrier', connection, token };
}

export function subscribe(connection: ConnectionId, token: Token, queue = 'q'): Input {
  return { kind: 'subscribe', connection, token, queue };
}

/** The message's id is the token. */
export function publish(connection: ConnectionId, token: string, queue = 'q'): PublishInput {
  const content = contentOf(Buffer.from(token));
  return { kind: 'publish', connection, token, queue, id: token, priority: Priority.Normal, content };
}

function isAnswer(effect: Effect): effect is AnsweredEffect | RefusedEffect {
  return effect.kind === 'answered' || effect.kind === 'refused';
}

function describeAnswer(effect: AnsweredEffect | RefusedEffect): string {
  return effect.kind === 'answered' ? String(effect.token) : `${String(effect.token)} ${effect.code}`;
}
