// Backends with one fault each, and the case of the contract suite that must find it. A table.

import type { Backend, BackendReceiver, BackendState } from '../backend/backend.ts';
import type { Effect } from '../broker/interface/effect.ts';
import type { Input } from '../broker/interface/input.ts';
import type { NewBackend } from './backend-run.ts';

export type BrokenBackend = {
  /** The fault, as the predicate of a sentence: "the backend ...". */
  readonly fault: string;
  /** The name of the case that must fail. */
  readonly foundBy: string;
  readonly break: (backend: Backend) => Backend;
};

/** The backend, with some methods replaced. */
function changed(backend: Backend, change: Partial<Backend>): Backend {
  return {
    get state() {
      return backend.state;
    },
    get commitMs() {
      return backend.commitMs;
    },
    start: (receiver) => backend.start(receiver),
    submit: (input) => backend.submit(input),
    queueInfo: (name) => backend.queueInfo(name),
    largestQueues: (limit) => backend.largestQueues(limit),
    queueFigures: () => backend.queueFigures(),
    subscriberFigures: (queue, limit) => backend.subscriberFigures(queue, limit),
    statistics: () => backend.statistics(),
    close: () => backend.close(),
    ...change,
  };
}

/** Inserts a receiver between the backend and its own. */
function telling(
  change: (receiver: BackendReceiver) => Partial<BackendReceiver>,
): (backend: Backend) => Backend {
  return (backend) =>
    changed(backend, { start: (receiver) => backend.start({ ...receiver, ...change(receiver) }) });
}

function taking(take: (submit: (input: Input) => void, input: Input) => void): (backend: Backend) => Backend {
  return (backend) =>
    changed(backend, { submit: (input) => take((passed) => backend.submit(passed), input) });
}

function keptBack(receiver: BackendReceiver): Pick<BackendReceiver, 'effects' | 'stateChanged'> {
  let refusals: readonly Effect[] = [];
  return {
    effects: (effects) => {
      const isRefusal = (effect: Effect) => effect.kind === 'refused' && effect.code === 'STORAGE_ERROR';
      refusals = effects.filter(isRefusal);
      receiver.effects(effects.filter((effect) => !isRefusal(effect)));
    },
    stateChanged: (state: BackendState) => {
      receiver.stateChanged(state);
      receiver.effects(refusals);
    },
  };
}

export const brokenBackends: readonly BrokenBackend[] = [
  {
    fault: 'says twice that it serves',
    foundBy: 'serves when start resolves',
    break: telling(({ stateChanged }) => ({
      stateChanged: (state) => {
        stateChanged(state);
        if (state.kind === 'serving') stateChanged(state);
      },
    })),
  },
  {
    fault: 'starts without its store',
    foundBy: 'rejects start with the error that prevented it',
    break: (backend) => changed(backend, { start: (receiver) => backend.start(receiver).catch(() => {}) }),
  },
  {
    fault: 'keeps early inputs for later',
    foundBy: 'drops inputs before it serves',
    break: (backend) => {
      const early: Input[] = [];
      return changed(backend, {
        submit: (input) => {
          if (backend.state.kind === 'recovering') early.push(input);
          else for (const next of [...early.splice(0), input]) backend.submit(next);
        },
      });
    },
  },
  {
    fault: 'answers a barrier within submit',
    foundBy: 'has no effect within submit',
    break: (backend) => {
      let receiver: BackendReceiver | undefined;
      return changed(backend, {
        start: (given) => {
          receiver = given;
          return backend.start(given);
        },
        submit: (input) => {
          if (input.kind !== 'barrier') return backend.submit(input);
          receiver?.effects([{ kind: 'answered', connection: input.connection, token: input.token }]);
        },
      });
    },
  },
  {
    fault: 'turns batches of effects around',
    foundBy: 'answers each connection in order, and a barrier after everything before it',
    break: telling(({ effects }) => ({ effects: (given) => effects(given.toReversed()) })),
  },
  {
    fault: 'does not notice that a connection has ended',
    foundBy: 'sends nothing to a connection after its last barrier',
    break: taking((submit, input) => {
      if (input.kind !== 'disconnected') submit(input);
    }),
  },
  {
    fault: 'reports inputs as processed twice',
    foundBy: 'reports every input as processed once, in order',
    break: telling(({ processed }) => ({ processed: (inputs) => processed([...inputs, ...inputs]) })),
  },
  {
    fault: 'has snapshots of its beginning',
    foundBy: 'brings its snapshots up to date',
    break: (backend) => {
      const statistics = backend.statistics();
      return changed(backend, { statistics: () => statistics });
    },
  },
  {
    fault: 'takes no ack after it was told to drain',
    foundBy: 'drains: takes acks and answers barriers, refuses other commands',
    break: taking((submit, input) => {
      if (input.kind !== 'acknowledge') submit(input);
    }),
  },
  {
    fault: 'says that it has failed, and refuses publishes then',
    foundBy: 'refuses publishes whose commit is unknown, and says then that it has failed',
    break: telling(keptBack),
  },
  {
    fault: 'refuses every publish but one',
    foundBy: 'refuses publishes whose commit is unknown, and says then that it has failed',
    break: telling(({ effects }) => ({
      effects: (given) => effects(given.filter((effect) => !('code' in effect && effect.token === 'm1'))),
    })),
  },
  {
    fault: 'keeps what it is given while it has failed',
    foundBy: 'drops inputs while it has failed',
    break: (backend) => {
      const kept: Input[] = [];
      return changed(backend, {
        start: (receiver) =>
          backend.start({
            ...receiver,
            stateChanged: (state) => {
              receiver.stateChanged(state);
              if (state.kind === 'serving') for (const input of kept.splice(0)) backend.submit(input);
            },
          }),
        submit: (input) => {
          if (backend.state.kind === 'failed') kept.push(input);
          else backend.submit(input);
        },
      });
    },
  },
  {
    fault: 'delivers to the connections of before its failure',
    foundBy: 'starts again after a failure, without the connections of before',
    break: telling(({ effects }) => ({
      effects: (given) =>
        effects(
          given.flatMap((effect): readonly Effect[] =>
            effect.kind === 'deliver' ? [effect, { ...effect, connection: 1 }] : [effect],
          ),
        ),
    })),
  },
  {
    fault: 'counts from zero after a failure',
    foundBy: 'has counters that never fall, over a failure too',
    break: (backend) => {
      let before = 0;
      return changed(backend, {
        start: (receiver) =>
          backend.start({
            ...receiver,
            stateChanged: (state) => {
              if (state.kind === 'failed') before = backend.statistics().publishedCount;
              receiver.stateChanged(state);
            },
          }),
        statistics: () => {
          const statistics = backend.statistics();
          return { ...statistics, publishedCount: statistics.publishedCount - before };
        },
      });
    },
  },
  {
    fault: 'shows its queues as they were before it failed',
    foundBy: 'has no figures of queues while it does not serve',
    break: (backend) => {
      let last: ReturnType<Backend['queueFigures']>;
      return changed(backend, {
        queueFigures: () => {
          last = backend.queueFigures() ?? last;
          return last;
        },
      });
    },
  },
  {
    fault: 'has other queues after a failure',
    foundBy: 'goes on with the figures of its queues after a failure',
    break: (backend) => {
      let failures = 0;
      return changed(backend, {
        start: (receiver) =>
          backend.start({
            ...receiver,
            stateChanged: (state) => {
              if (state.kind === 'failed') failures += 1;
              receiver.stateChanged(state);
            },
          }),
        queueFigures: () => backend.queueFigures()?.map((one) => ({ ...one, id: one.id + 100 * failures })),
      });
    },
  },
  {
    fault: 'processes what is pending when it is closed',
    foundBy: 'keeps what it has answered, and says nothing after it was closed',
    break: (backend) => changed(backend, { close: () => Promise.resolve().then(() => backend.close()) }),
  },
  {
    fault: 'tells nobody that its start was cancelled',
    foundBy: 'closes while it starts',
    break: (backend) => changed(backend, { start: (receiver) => backend.start(receiver).catch(() => {}) }),
  },
  {
    fault: 'does not close while it has failed',
    foundBy: 'closes while it has failed, and does not come back',
    break: (backend) =>
      changed(backend, {
        close: async () => (backend.state.kind === 'failed' ? undefined : backend.close()),
      }),
  },
];

/** Creates the backend with its fault. */
export function brokenBy({ break: breakIt }: BrokenBackend, newBackend: NewBackend): NewBackend {
  return (parts) => breakIt(newBackend(parts));
}
