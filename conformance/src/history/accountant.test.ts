// The accountant on histories whose verdict is known: each fault alone, and what only looks like one.
import { describe, expect, it } from 'vitest';
import { accountCountsText, accountLines } from './account.ts';
import { account, accountInTurns } from './accountant.ts';
import type { HistoryRules, Operation } from './operation.ts';
import { knownHistories } from './pathological.ts';

const usual: HistoryRules = { queues: {}, drained: ['orders'], ackTimeoutMs: 30_000, durable: false };

describe('account', () => {
  it.each(knownHistories)('$title', ({ operations, rules, finds, counts }) => {
    const result = account(operations, { ...usual, ...rules });
    expect(result.findings.map(({ kind, clause }) => [kind, clause])).toEqual(finds);
    if (counts !== undefined) expect(result.counts).toMatchObject(counts);
  });

  it('excuses what may have expired, been pushed out, or is owed to nobody', () => {
    const operations = [
      { atMs: 0, connection: 'P', kind: 'publish', queue: 'orders', id: 'm', content: '1' },
      { atMs: 1, connection: 'P', kind: 'published', queue: 'orders', id: 'm' },
      { atMs: 90, connection: 'P', kind: 'synchronised', upTo: 1 },
    ] as const;
    const findings = (rules: object): number =>
      account(operations, { ...usual, queues: { orders: rules } }).findings.length;
    expect(findings({})).toBe(1);
    expect(findings({ messageTtlMs: 90 })).toBe(0);
    expect(findings({ messageTtlMs: 91 })).toBe(1);
    expect(findings({ mayDrop: true })).toBe(0);
  });
});

describe('accountInTurns', () => {
  it('comes to the same account, a part at a time', async () => {
    for (const { operations, rules } of knownHistories) {
      let turnCount = 0;
      const turn = async (): Promise<void> => {
        turnCount += 1;
      };
      const long = Array.from({ length: 100 }, () => operations).flat();
      const all = { ...usual, ...rules };
      expect(await accountInTurns(long, all, turn)).toEqual(account(long, all));
      expect(turnCount).toBe(Math.ceil(long.length / 1000));
    }
  });
});

describe('a long history', () => {
  it('accounts for 20,000 messages, each acknowledged and synchronised', () => {
    const count = 20_000;
    const ids = Array.from({ length: count }, (_, index) => `m-${index}`);
    const operations = ids.flatMap((id, index): readonly Operation[] => {
      const at = { atMs: index, queue: 'orders', id };
      return [
        { ...at, connection: 'P', kind: 'publish', content: id },
        { ...at, connection: 'P', kind: 'published' },
        { ...at, connection: 'S', kind: 'delivered', content: id },
        { ...at, connection: 'S', kind: 'ack' },
        { atMs: index, connection: 'S', kind: 'synchronised', upTo: 5 * index + 5 },
      ];
    });
    const subscribed: readonly Operation[] = [
      { atMs: 0, connection: 'S', kind: 'subscribe', queue: 'orders' },
      { atMs: 0, connection: 'S', kind: 'subscribed', queue: 'orders' },
    ];
    const { counts, findings } = account([...subscribed, ...operations], usual);
    expect(findings).toEqual([]);
    expect(counts.ok).toBe(count);
  });
});

describe('accountLines', () => {
  it('says the sums, and of each finding what happened to its message', () => {
    const known = knownHistories.find(({ title }) => title === 'a message comes twice while it is held');
    const operations = known?.operations ?? [];
    const lines = accountLines(account(operations, usual), operations);
    expect(lines[0]).toBe(
      '1 attempted, 1 confirmed, 1 ok, 0 lost, 1 duplicated, 0 unexpected, 0 recovered, 1 outstanding',
    );
    expect(lines[1]).toContain(
      'duplicated: m of orders: it was delivered again before the ack timeout while another delivery',
    );
    expect(lines).toContain('  7.0 ms T: delivered orders m');
  });

  it('names the four sums even when they are nothing', () => {
    expect(accountCountsText(account([], usual).counts)).toBe(
      '0 attempted, 0 ok, 0 lost, 0 duplicated, 0 unexpected, 0 recovered',
    );
  });
});
