// A claim is proved by a planted fault that breaks the requirement, and by nothing else.
import { describe, expect, it } from 'vitest';
import type { Evidence } from './evidence.ts';
import { notCalledBroken, type Proofs, provedEvidence } from './proved.ts';

const check: Evidence = { kind: 'checks', id: 'FRAME-001', by: 'FRAME-001a', passed: true };
const test: Evidence = { kind: 'tests', id: 'FRAME-001', by: 'a.test.ts', passed: true };
const fault = { id: 'frame-x', breaks: ['FRAME-001', 'FRAME-002'], mustFail: ['FRAME-001a'] };

function proofsWith(more: Partial<Proofs>): Proofs {
  return { faults: [fault], calledBroken: new Map(), failingFiles: new Map(), ...more };
}

function proved(evidence: Evidence, more: Partial<Proofs> = {}): boolean {
  return provedEvidence([evidence], proofsWith(more)).length === 1;
}

describe('a check', () => {
  it('is proved for a requirement when it must see a fault that breaks it', () => {
    expect(proved(check)).toBe(true);
  });

  it('is not proved by a fault that breaks something else, or that it need not see', () => {
    expect(proved(check, { faults: [{ ...fault, breaks: ['FRAME-002'] }] })).toBe(false);
    expect(proved(check, { faults: [{ ...fault, mustFail: ['FRAME-003a'] }] })).toBe(false);
  });
});

describe('a test', () => {
  it('is proved for a requirement when its file failed for it', () => {
    expect(proved(test, { failingFiles: new Map([['FRAME-001', new Set(['a.test.ts'])]]) })).toBe(true);
  });

  it('is not proved when it failed for another requirement, or another file failed', () => {
    expect(proved(test, { failingFiles: new Map([['FRAME-002', new Set(['a.test.ts'])]]) })).toBe(false);
    expect(proved(test, { failingFiles: new Map([['FRAME-001', new Set(['b.test.ts'])]]) })).toBe(false);
  });
});

describe('a requirement that only checks prove', () => {
  it('is told when it was called broken with none of its faults', () => {
    expect(notCalledBroken([check], proofsWith({}))).toEqual(['FRAME-001']);
    const calledBroken = new Map([['frame-x', ['FRAME-001']]]);
    expect(notCalledBroken([check], proofsWith({ calledBroken }))).toEqual([]);
    expect(notCalledBroken([check, test], proofsWith({}))).toEqual([]);
  });
});
