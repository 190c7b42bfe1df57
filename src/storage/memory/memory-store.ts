// The default store: it keeps nothing, so that nothing survives a restart, and a commit costs nothing.

import type { StorageProvider } from '../storage-provider.ts';

/** A store whose commits are done immediately and which keeps nothing (DURABLE-023, DURABLE-024). */
export function openMemoryStore(): StorageProvider {
  return { recover: () => [], commit: () => undefined, close: () => undefined };
}
