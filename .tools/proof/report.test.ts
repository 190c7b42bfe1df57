// The kept proof of the tests: what is stale is found, what is renewed takes the place of the old, and nothing else is lost.
import { describe, expect, it } from 'vitest';
import {
  digestOf,
  emptyProof,
  type Proof,
  proofJson,
  provedFiles,
  renewed,
  type SeenBy,
  staleFaults,
  stalenessFault,
} from './report.ts';

const proof: Proof = {
  schema: 1,
  faults: {
    a: { digest: '1', seenBy: { 'FRAME-001': ['a.test.ts'] } },
    b: { digest: '2', seenBy: { 'FRAME-001': ['b.test.ts'], 'FRAME-002': ['b.test.ts'] } },
  },
};

describe('the digest', () => {
  it('differs when a text does, or when text moves from one to the next', () => {
    expect(digestOf(['ab', 'c'])).not.toBe(digestOf(['a', 'bc']));
    expect(digestOf(['a'])).not.toBe(digestOf(['b']));
  });

  it('is the same whatever ends the lines', () => {
    expect(digestOf(['a\r\nb'])).toBe(digestOf(['a\nb']));
  });
});

describe('an entry', () => {
  it('is stale when it is missing or its digest is another', () => {
    const digests = new Map([
      ['a', () => '1'],
      ['b', () => '3'],
      ['c', () => '4'],
    ]);
    expect(staleFaults(proof, digests)).toEqual(['b', 'c']);
  });

  it('is judged by the files that saw the fault', () => {
    const digests = new Map([
      ['a', (seenBy: SeenBy) => (seenBy['FRAME-001']?.[0] === 'a.test.ts' ? '1' : '2')],
    ]);
    expect(staleFaults(proof, digests)).toEqual([]);
  });

  it('takes the place of the old one, and goes with its fault', () => {
    const entries = new Map([['c', { digest: '4', seenBy: {} }]]);
    expect(Object.keys(renewed(proof, entries, ['c', 'a']).faults)).toEqual(['a', 'c']);
  });
});

describe('the proof', () => {
  it('is too old when more than a tenth of the faults is stale', () => {
    const digests = (count: number) =>
      new Map(Array.from({ length: count }, (_, index) => [`f${index}`, () => 'x']));
    const faults = Object.fromEntries([...digests(9).keys()].map((id) => [id, { digest: 'x', seenBy: {} }]));
    expect(stalenessFault({ schema: 1, faults }, digests(10))).toBeUndefined();
    expect(stalenessFault({ schema: 1, faults }, digests(11))).toMatch(/2 of 11 faults: npm run proof/);
    expect(stalenessFault(emptyProof, digests(1))).toBeDefined();
  });

  it('tells by requirement which files failed', () => {
    expect([...provedFiles(proof)]).toEqual([
      ['FRAME-001', new Set(['a.test.ts', 'b.test.ts'])],
      ['FRAME-002', new Set(['b.test.ts'])],
    ]);
  });

  it('is JSON with one fault a line', () => {
    expect(JSON.parse(proofJson(proof))).toEqual(proof);
    expect(proofJson(proof).split('\n')[3]).toMatch(/^ {4}"a": \{/);
  });
});
