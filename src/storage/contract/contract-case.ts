// The types of the contract suite: the place where a store keeps its bytes, the options of the suite, and its cases.

import type { StorageProvider } from '../storage-provider.ts';

/** Where one store keeps its bytes: a file, a folder, a database, a key prefix. */
export type StorePlace = {
  /** Opens the store there. The suite closes it before it opens it again. */
  open(): Promise<StorageProvider>;
  /**
   * A new place with the bytes that a crash of the process would leave now, whether or not the store is open. Never called while
   * a commit is in flight.
   */
  copy(): Promise<StorePlace>;
  /** Removes the place with everything in it. After a failed case the store may still be open there. */
  remove(): Promise<void>;
};

export type StoreUnderTest = {
  /** Makes an empty place. */
  newPlace(): Promise<StorePlace>;
  /** False for a store that keeps nothing over a restart: the suite then leaves out the cases about recovery. */
  readonly isDurable: boolean;
};

/** One case of the suite. It rejects with the reason when the store breaks the contract. */
export type ContractCase = {
  readonly name: string;
  /** Makes a place of its own and removes it; needs no `this`. */
  readonly run: () => Promise<void>;
};

/** A case before it is tied to a store: `check` gets an empty place and need not remove it. */
export type PlaceCase = {
  readonly name: string;
  readonly check: (place: StorePlace) => Promise<void>;
};
