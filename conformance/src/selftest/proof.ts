// The self-test of an installed suite, without any broker: the codec against recorded frames, the accountant against known histories, and
// the checks against null brokers. Each case is passed or has faults; nothing is printed here.
import { isDeepStrictEqual } from 'node:util';
import { type Capability, capabilities } from '../catalogue-words.ts';
import type { Sources } from '../cli/sources.ts';
import type { RunOptions } from '../engine/suite.ts';
import { goldenFaults } from '../golden-check.ts';
import { account } from '../history/accountant.ts';
import type { HistoryRules } from '../history/operation.ts';
import type { KnownHistory } from '../history/pathological.ts';
import { knownHistories } from '../history/pathological.ts';
import type { CheckResult } from '../result.ts';
import type { GoldenFile } from '../suite-data.ts';
import type { NullBrokerKind } from './null-broker.ts';
import { isStateless, startNullBroker } from './null-broker.ts';
import { runQuick } from './quick-run.ts';
import { statelessPasses } from './stateless-passes.ts';

/** One case of the self-test; `faults` is empty if it passed. */
export type Case = { readonly title: string; readonly faults: readonly string[] };

/** The codec decodes and encodes every recorded frame. A missing recording is a fault. */
export function goldenCases(files: readonly GoldenFile[]): readonly Case[] {
  if (files.length === 0) return [{ title: 'golden frames', faults: goldenFaults(files) }];
  const withFrames = files.filter(({ connections }) => connections.flat().length > 0);
  return withFrames.map((file) => ({ title: `golden frames: ${file.title}`, faults: goldenFaults([file]) }));
}

const usualRules: HistoryRules = { queues: {}, drained: ['orders'], ackTimeoutMs: 30_000, durable: false };

/** The accountant reports the expected findings of each known history, and no others. */
export function historyCases(histories: readonly KnownHistory[] = knownHistories): readonly Case[] {
  return histories.map((known) => ({ title: `history: ${known.title}`, faults: historyFaults(known) }));
}

function historyFaults({ operations, rules, finds, counts = {} }: KnownHistory): readonly string[] {
  const result = account(operations, { ...usualRules, ...rules });
  const found = result.findings.map(({ kind, clause }) => [kind, clause] as const);
  const wrong = Object.entries(counts).filter(
    ([name, count]) => (result.counts as Readonly<Record<string, number>>)[name] !== count,
  );
  return [
    ...(isDeepStrictEqual(found, finds) ? [] : [`found: ${told(found)}; expected: ${told(finds)}`]),
    ...wrong.map(([name, count]) => `expected ${count} ${name}`),
  ];
}

function told(findings: KnownHistory['finds']): string {
  return findings.length === 0 ? 'nothing' : findings.map((one) => one.join(' of ')).join(', ');
}

/** Runs everything against one null broker. */
export async function nullBrokerCases(
  kind: NullBrokerKind,
  sources: Sources,
  base: RunOptions,
): Promise<readonly Case[]> {
  // The lifecycle only shows that the broker can be stopped and started. It is never used: the broker runs in this process.
  const lifecycle = { kind: 'spawn', command: ['null-broker', kind] } as const;
  const target = {
    schema: 1,
    name: `null broker: ${kind}`,
    lifecycle,
    profiles: ['full', 'model'],
    capabilities: nullCapabilities,
  } as const;
  const options = { ...base, target, jobs: 48, startBroker: () => startNullBroker(kind) };
  const { results } = await runQuick(sources, options, (result) => isMissedPass(kind, result));
  return results.map((result) => nullCase(kind, result));
}

/** All capabilities except the one that needs files, which null brokers do not have. */
const nullCapabilities = (Object.keys(capabilities) as readonly Capability[]).filter(
  (name) => name !== 'fileStore',
);

/** A check in the list of stateless passes must pass on the plausible stateless broker, so that the list has no needless entry. */
function isMissedPass(kind: NullBrokerKind, result: CheckResult): boolean {
  return kind === 'stateless' && statelessPasses.has(result.id) && !isPass(result);
}

/** A warning without a reason belongs to a check that passed. */
function isPass({ outcome, reason }: CheckResult): boolean {
  return outcome === 'pass' || (outcome === 'warn' && reason === undefined);
}

/** An error of the runner, or a check that could not run, proves nothing about the check. */
export function nullCase(kind: NullBrokerKind, result: CheckResult): Case {
  const { id, outcome, reason } = result;
  const mayPass = isStateless(kind) && statelessPasses.has(id);
  const title = mayPass
    ? `null broker ${kind}: ${id} is about an answer alone`
    : `null broker ${kind}: ${id} does not pass`;
  const isFair = isPass(result)
    ? mayPass
    : ['fail', 'blocked', 'warn', 'not applicable', 'not shown'].includes(outcome) &&
      !isMissedPass(kind, result);
  return { title, faults: isFair ? [] : [`it ended with ${outcome}: ${reason ?? 'it passed'}`] };
}
