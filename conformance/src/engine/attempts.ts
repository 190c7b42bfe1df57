// Runs a check with the connections that it needs, and runs it again with more of them if one was missing.
import type { CheckResult } from '../result.ts';
import type { CheckConnections, ConnectionNeed, ConnectionSupply, OpenAhead } from './connection-supply.ts';
import type { PlayedCheck, RunCheckSetting } from './run-check.ts';
import { runCheck } from './run-check.ts';

export type AttemptsSetting = {
  readonly supply: ConnectionSupply;
  readonly open: OpenAhead;
  /** `attempt` counts from 1: each has names of its own. */
  readonly settingOf: (attempt: number, connections: CheckConnections) => RunCheckSetting;
  /** Called after each attempt, also after an abandoned one. */
  readonly ended: (setting: RunCheckSetting, result: CheckResult) => void;
};

/** Each attempt reserves half as many connections again as the one before: this many attempts reach 60 connections. */
const maxAttempts = 8;

/** The last attempt, or the first whose frames broke something. */
export async function runAttempts({ supply, open, settingOf, ended }: AttemptsSetting): Promise<PlayedCheck> {
  let need: ConnectionNeed = { shared: 0, own: 0 };
  for (let attempt = 1; ; attempt += 1) {
    const connections = await supply.reserve({ ...need, mayWait: attempt === maxAttempts }, open);
    const setting = settingOf(attempt, connections);
    const played = await runCheck(setting);
    connections.end();
    ended(setting, played.result);
    if (!connections.isShort) return played;
    if (played.broken !== undefined) return { ...played, result: played.broken };
    need = connections.nextNeed;
  }
}
