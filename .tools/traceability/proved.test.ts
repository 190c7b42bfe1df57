// A claim is proved by a planted fault that breaks the requirement, and by nothing else.
import { describe, expect, it } from 'vitest';
import type { Evidence } from './evidence.ts';
import { type Proofs, provedEvidence } from './proved.ts';

const check: Evidence = { kind: 'checks', id: 'FRAME-001', by: 'FRAME-001a', passed: true };
const test: Evidence = { kind: 'tests', id: 'FRAME-001', by: 'a.test.ts', passed: true };
const fault = { id: 'frame-x', breaks: ['FRAME-001', 'FRAME-002'], mustFail: ['FRAME-001a'] };

function proved(evidence: Evidence, more: Partial<Proofs>): boolean {
  const proofs = { faults: [fault], calledBroken: new Map(), failingFiles: new Map(), ...more };
  return provedEvidence([evidence], proofs).length === 1;
}

describe('a check', () => {
  it('is proved for a requirement that was called broken when a fault that it must see breaks it', () => {
    expect(proved(check, { calledBroken: new Map([['frame-x', ['FRAME-001']]]) })).toBe(true);
  });

  it('is not proved when another requirement was called broken', () => {
    expect(proved(check, { calledBroken: new Map([['frame-x', ['FRAME-002']]]) })).toBe(false);
  });

  it('is not proved by a fault that breaks something else', () => {
    const faults = [{ ...fault, breaks: ['FRAME-002'] }];
    expect(proved(check, { faults, calledBroken: new Map([['frame-x', ['FRAME-001']]]) })).toBe(false);
  });

  it('is not proved by a fault that it need not see', () => {
    const faults = [{ ...fault, mustFail: ['FRAME-003a'] }];
    expect(proved(check, { faults, calledBroken: new Map([['frame-x', ['FRAME-001']]]) })).toBe(false);
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
