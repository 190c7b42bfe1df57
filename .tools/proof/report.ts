// The proof of the tests: which test files and feature files fail in a test that names a requirement, when a planted fault breaks that
// requirement. Kept in docs/internals/proof.json, because making all of it takes half an hour; each fault has a digest of what its entry was
// made from, so that only what has changed is tried again. Pure.
import { createHash } from 'node:crypto';

/** By requirement: the files in which a test that names it failed. */
export type SeenBy = Readonly<Record<string, readonly string[]>>;

export type FaultProof = {
  /** Of what it rests on: the fault, its place, and the files that saw it. */
  readonly digest: string;
  readonly seenBy: SeenBy;
};

/** By the id of the fault: the digest that its entry would have now if the same files saw it. */
export type Digests = ReadonlyMap<string, (seenBy: SeenBy) => string>;

export type Proof = {
  readonly schema: 1;
  /** By the id of the fault. */
  readonly faults: Readonly<Record<string, FaultProof>>;
};

export const proofFile = 'docs/internals/proof.json';
export const emptyProof: Proof = { schema: 1, faults: {} };

/** A larger share of faults whose entry is of other sources fails. */
export const maxStaleShare = 0.1;

export function digestOf(texts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const text of texts.map((one) => one.replaceAll('\r\n', '\n')))
    hash.update(`${text.length}\n${text}\n`);
  return hash.digest('hex').slice(0, 16);
}

/** The faults whose entry is missing or was made from something else. */
export function staleFaults(proof: Proof, digests: Digests): readonly string[] {
  return [...digests].flatMap(([id, digestFor]) => {
    const entry = proof.faults[id];
    return entry !== undefined && entry.digest === digestFor(entry.seenBy) ? [] : [id];
  });
}

/** What is wrong with the age of the proof; undefined when it is young enough. */
export function stalenessFault(proof: Proof, digests: Digests): string | undefined {
  const stale = staleFaults(proof, digests);
  if (stale.length <= digests.size * maxStaleShare) return undefined;
  return `the proof of the tests is of other sources for ${stale.length} of ${digests.size} faults: npm run proof`;
}

/** With these entries in place of the old ones, and without faults that do not exist any more. Sorted, so that diffs are small. */
export function renewed(
  proof: Proof,
  entries: ReadonlyMap<string, FaultProof>,
  faultIds: readonly string[],
): Proof {
  const kept = [...faultIds].sort().flatMap((id) => {
    const entry = entries.get(id) ?? proof.faults[id];
    return entry === undefined ? [] : [[id, entry] as const];
  });
  return { schema: 1, faults: Object.fromEntries(kept) };
}

/** By requirement: the files that are proved to fail when it is broken. */
export function provedFiles(proof: Proof): ReadonlyMap<string, ReadonlySet<string>> {
  const files = new Map<string, Set<string>>();
  for (const { seenBy } of Object.values(proof.faults)) {
    for (const [requirement, paths] of Object.entries(seenBy)) {
      const known = files.get(requirement) ?? new Set();
      for (const path of paths) known.add(path);
      files.set(requirement, known);
    }
  }
  return files;
}

/** One fault a line. */
export function proofJson({ schema, faults }: Proof): string {
  const rows = Object.entries(faults).map(
    ([id, entry]) => `    ${JSON.stringify(id)}: ${JSON.stringify(entry)}`,
  );
  return `{\n  "schema": ${schema},\n  "faults": {\n${rows.join(',\n')}\n  }\n}\n`;
}
