// Stores with one fault each, and the case of the contract suite that must find it. A table.

import type { RecoveredRecord, StoreRecord } from '../broker/interface/store-record.ts';
import { defaultQueueOptions } from '../model/queue-options.ts';
import { bytesOf } from '../storage/contract/message-contents.ts';
import { created, recoveredQueue } from '../storage/contract/sample-records.ts';
import type { StorageProvider } from '../storage/storage-provider.ts';
import { openLoggedStore, replayed, type StoreLog } from './logged-store.ts';

export type BrokenStore = {
  /** The fault, as the predicate of a sentence: "the store ...". */
  readonly fault: string;
  /** The beginning of the name of the case that must fail. */
  readonly foundBy: string;
  readonly open: (log: StoreLog) => StorageProvider;
};

type Open = BrokenStore['open'];
type Records = readonly StoreRecord[];
type Recovered = readonly RecoveredRecord[];
type RecoveredMessage = Extract<RecoveredRecord, { readonly kind: 'message' }>;

export const brokenStores: readonly BrokenStore[] = [
  {
    fault: 'has a queue before anything is committed',
    foundBy: 'as it is: begins with nothing',
    open: givingBack((recovered) => [recoveredQueue(created(99)), ...recovered]),
  },
  {
    fault: 'answers a commit with a value',
    foundBy: 'as it is: takes records of every kind',
    open: committing((commit, records) => {
      commit(records);
      return records.length as unknown as undefined;
    }),
  },
  {
    fault: 'refuses the second commit',
    foundBy: 'as it is: takes one batch after the other',
    open: (log) => {
      const store = openLoggedStore(log);
      let count = 0;
      const commit = (records: Records) => {
        count += 1;
        if (count > 1) throw new Error('busy');
        store.commit(records);
      };
      return { ...store, commit };
    },
  },
  {
    fault: 'refuses an empty batch',
    foundBy: 'as it is: takes a batch without records',
    open: committing((commit, records) => {
      if (records.length === 0) throw new Error('nothing to commit');
      commit(records);
    }),
  },
  {
    fault: 'keeps a mark of an empty batch as a queue',
    foundBy: 'as it is: takes a batch without records',
    open: keeping((records) => (records.length === 0 ? [created(99)] : records)),
  },
  {
    fault: 'writes into records',
    foundBy: 'as it is: leaves the records as they are',
    open: committing((commit, records) => {
      for (const record of records) Object.assign(record, { isCommitted: true });
      commit(records);
    }),
  },
  {
    fault: 'writes into contents',
    foundBy: 'as it is: leaves the records as they are',
    open: keeping((records) => {
      for (const record of records) if (record.kind === 'messageAdded') bytesOf(record.content).fill(0);
      return records;
    }),
  },
  {
    fault: 'cannot be closed before it was used',
    foundBy: 'as it is: can be closed without ever having been used',
    open: (log) => {
      const store = openLoggedStore(log);
      let isUsed = false;
      const used = <Result>(result: Result): Result => {
        isUsed = true;
        return result;
      };
      return {
        recover: () => used(store.recover()),
        commit: (records) => used(store.commit(records)),
        close: () => {
          if (!isUsed) throw new Error('never opened');
        },
      };
    },
  },
  {
    fault: 'forgets the options of queues',
    foundBy: 'as it is: gives back queues',
    open: givingBack((recovered) =>
      recovered.map((record) =>
        record.kind === 'queue' ? { ...record, options: defaultQueueOptions } : record,
      ),
    ),
  },
  {
    fault: 'forgets the creation times of queues',
    foundBy: 'as it is: gives back queues',
    open: givingBack((recovered) =>
      recovered.map((record) => (record.kind === 'queue' ? { ...record, createdWallAt: 0 } : record)),
    ),
  },
  {
    fault: 'gives back queues in another order',
    foundBy: 'as it is: gives back queues',
    open: givingBack((recovered) => [...queuesOf(recovered).reverse(), ...messagesOf(recovered)]),
  },
  {
    fault: 'gives back messages queue by queue',
    foundBy: 'as it is: gives back messages of all queues by sequence',
    open: givingBack((recovered) => [
      ...queuesOf(recovered),
      ...[...messagesOf(recovered)].sort((a, b) => a.generation - b.generation),
    ]),
  },
  {
    fault: 'gives back contents as text',
    foundBy: 'as it is: gives back messages of all queues by sequence',
    open: changingMessages((message) => ({ ...message, content: textOf(message) as never })),
  },
  {
    fault: 'keeps contents as UTF-8',
    foundBy: 'as it is: gives back messages of all queues by sequence',
    open: changingMessages((message) => ({ ...message, content: Buffer.from(textOf(message)) })),
  },
  {
    fault: 'loses the last message of a batch',
    foundBy: 'as it is: gives back messages of all queues by sequence',
    open: keeping((records) => (records.at(-1)?.kind === 'messageAdded' ? records.slice(0, -1) : records)),
  },
  {
    fault: 'keeps the first half of a batch',
    foundBy: 'as it is: keeps what a list would keep',
    open: keeping((records) => records.slice(0, Math.ceil(records.length / 2))),
  },
  {
    fault: 'cuts contents at 64 KiB',
    foundBy: 'as it is: gives back contents of no bytes and of a mebibyte',
    open: changingMessages((message) => ({
      ...message,
      content: message.content.subarray(0, 65_536),
    })),
  },
  {
    fault: 'loses messages without bytes',
    foundBy: 'as it is: gives back contents of no bytes and of a mebibyte',
    open: givingBack((recovered) =>
      recovered.filter((record) => record.kind === 'queue' || record.content.byteLength > 0),
    ),
  },
  {
    fault: 'keeps numbers in 32 bits',
    foundBy: 'as it is: gives back large numbers and texts',
    open: changingMessages((message) => ({ ...message, acceptedWallAt: message.acceptedWallAt | 0 })),
  },
  {
    fault: 'keeps texts as Latin-1',
    foundBy: 'as it is: gives back large numbers and texts',
    open: changingMessages((message) => ({
      ...message,
      id: Buffer.from(message.id, 'latin1').toString('latin1'),
    })),
  },
  {
    fault: 'keeps messages that have left',
    foundBy: 'as it is: gives back nothing that has left',
    open: without('messageRemoved'),
  },
  {
    fault: 'forgets failed attempts',
    foundBy: 'as it is: gives back failed attempts',
    open: without('attemptFailed'),
  },
  {
    fault: 'forgets failed attempts of dead letters',
    foundBy: 'as it is: gives back the failed attempts of a dead letter',
    open: changingMessages((message) =>
      message.deadLetter === undefined ? message : { ...message, failedAttempts: 0 },
    ),
  },
  {
    fault: 'keeps the source of a dead letter',
    foundBy: 'as it is: gives back a dead letter',
    open: keeping((records) =>
      records.map((record) =>
        record.kind === 'deadLettered' ? { kind: 'messageAdded', ...record.to } : record,
      ),
    ),
  },
  {
    fault: 'forgets why a letter is dead',
    foundBy: 'as it is: gives back a dead letter',
    open: changingMessages(({ deadLetter: _facts, ...message }) => message),
  },
  {
    fault: 'keeps deleted queues',
    foundBy: 'as it is: forgets a deleted queue',
    open: without('queueDeleted'),
  },
  {
    fault: 'identifies queues by name, so that a new queue has the messages of an old one',
    foundBy: 'as it is: forgets a deleted queue',
    open: (log) => {
      const store = openLoggedStore(log);
      const names = new Set<string>();
      const isNew = (record: StoreRecord) => {
        if (record.kind !== 'queueCreated') return true;
        const isFirst = !names.has(record.name);
        names.add(record.name);
        return isFirst;
      };
      return { ...store, commit: (records) => store.commit(records.filter(isNew)) };
    },
  },
  {
    fault: 'finds the messages of an ended queue under a generation that is used again',
    foundBy: 'as it is: lets numbers above those given back be used again',
    open: (log) => ({ ...openLoggedStore(log), recover: () => withLeftovers(log.batches.flat()) }),
  },
  {
    fault: 'forgets everything at the second start',
    foundBy: 'as it is: gives back the same at every start',
    open: (log) => {
      const store = openLoggedStore(log);
      return { ...store, recover: () => forgetting(log, store.recover()) };
    },
  },
  {
    fault: 'gives back nothing after a probe',
    foundBy: 'as it is: gives back the same at every start',
    open: (log) => {
      const store = openLoggedStore(log);
      let wasProbed = false;
      const commit = (records: Records) => {
        wasProbed ||= records.length === 0;
        store.commit(records);
      };
      return { ...store, commit, recover: () => (wasProbed ? [] : store.recover()) };
    },
  },
  {
    fault: 'writes when it is closed',
    foundBy: 'as it is: has everything after a crash',
    open: (log) => {
      const store = openLoggedStore(log);
      const unwritten: Records[] = [];
      const close = () => {
        for (const records of unwritten.splice(0)) store.commit(records);
      };
      return { ...store, commit: (records) => void unwritten.push(records), close };
    },
  },
  {
    fault: 'is done before the batch is safe',
    foundBy: 'as it is: has everything after a crash',
    open: (log) => {
      const store = openLoggedStore(log);
      return { ...store, commit: async (records) => void setImmediate(() => store.commit(records)) };
    },
  },
  {
    fault: 'ends a recovery that lasts longer than a turn of the event loop',
    foundBy: 'delayed: gives back queues',
    open: (log) => ({ ...openLoggedStore(log), recover: () => cutOff(replayed(log.batches.flat())) }),
  },
];

/** A store with another `commit`; it receives the correct one. */
function committing(commit: (right: (records: Records) => void, records: Records) => void): Open {
  return (log) => {
    const store = openLoggedStore(log);
    return { ...store, commit: (records) => commit(store.commit, records) };
  };
}

/** A store that keeps other records than the committed ones. */
function keeping(change: (records: Records) => Records): Open {
  return committing((commit, records) => commit(change(records)));
}

/** A store that ignores the records of one kind. */
function without(kind: StoreRecord['kind']): Open {
  return keeping((records) => records.filter((record) => record.kind !== kind));
}

/** A store that recovers other records than it has kept. */
function givingBack(change: (recovered: Recovered) => Recovered): Open {
  return (log) => {
    const store = openLoggedStore(log);
    return { ...store, recover: () => change(store.recover()) };
  };
}

function changingMessages(change: (message: RecoveredMessage) => RecoveredMessage): Open {
  return givingBack((recovered) =>
    recovered.map((record) => (record.kind === 'message' ? change(record) : record)),
  );
}

function queuesOf(recovered: Recovered): Recovered[number][] {
  return recovered.filter(({ kind }) => kind === 'queue');
}

function messagesOf(recovered: Recovered): readonly RecoveredMessage[] {
  return recovered.flatMap((record) => (record.kind === 'message' ? [record] : []));
}

function textOf({ content }: RecoveredMessage): string {
  return Buffer.from(content).toString();
}

/** The existing queues, and every message with their generations, including removed ones. */
function withLeftovers(records: Records): Recovered {
  const queues = queuesOf(replayed(records));
  const living = new Set(queues.map(({ generation }) => generation));
  const neverDeleted = replayed(records.filter(({ kind }) => kind !== 'queueDeleted'));
  return [...queues, ...messagesOf(neverDeleted).filter(({ generation }) => living.has(generation))];
}

function forgetting(log: StoreLog, recovered: Recovered): Recovered {
  log.batches.splice(0);
  return recovered;
}

function* cutOff(recovered: Recovered): Iterable<RecoveredRecord> {
  let isOpen = true;
  setImmediate(() => {
    isOpen = false;
  });
  for (const record of recovered) {
    if (!isOpen) return;
    yield record;
  }
}
