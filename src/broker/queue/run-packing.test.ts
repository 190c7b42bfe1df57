// Columns serve one run after another, and never two at a time.

import { describe, expect, it } from 'vitest';
import type { MessagePacking } from '../interface/message-packing.ts';
import { FIELDS, INSTANTS, RunPacking } from './run-packing.ts';

const contents: MessagePacking = {
  minWaiting: 1,
  maxCount: 1000,
  maxBytes: 1000,
  pack: () => {
    throw new Error('Nothing is packed here.');
  },
};

describe('columns', () => {
  it('have place for every message', () => {
    const packing = new RunPacking(contents);
    for (const count of [1, 63, 64, 65, 1000]) {
      const { instants, fields } = packing.takeColumns(count);
      expect(instants.length).toBeGreaterThanOrEqual(INSTANTS * count);
      expect(fields.length).toBeGreaterThanOrEqual(FIELDS * count);
    }
  });

  it('that were left serve a run of nearly the same length', () => {
    const packing = new RunPacking(contents);
    const columns = packing.takeColumns(115);
    packing.leaveColumns(columns);
    expect(packing.takeColumns(117)).toBe(columns);
  });

  it('that were left do not serve a run of another length', () => {
    const packing = new RunPacking(contents);
    packing.leaveColumns(packing.takeColumns(1000));
    const { instants } = packing.takeColumns(100);
    expect(instants.length).toBeLessThan(INSTANTS * 200);
  });

  it('serve one run at a time', () => {
    const packing = new RunPacking(contents);
    packing.leaveColumns(packing.takeColumns(10));
    const all = Array.from({ length: 3 }, () => packing.takeColumns(10));
    expect(new Set(all).size).toBe(3);
  });

  it('that were left longest ago are forgotten', () => {
    const packing = new RunPacking(contents);
    const all = Array.from({ length: 10 }, () => packing.takeColumns(10));
    for (const columns of all) packing.leaveColumns(columns);
    const again = Array.from({ length: 10 }, () => packing.takeColumns(10));
    expect(again.filter((columns) => all.includes(columns))).toEqual(all.slice(-4));
  });
});
