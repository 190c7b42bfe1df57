// Checks endings: the broker closes a connection only for a reason; at a shutdown it sends Disconnect first and ends within the timeout;
// when its store has failed, it sends Disconnect too (CONN, SHUTDOWN, DURABLE).

import { Command } from '../../../protocol/command.ts';
import type { Fact, Ledger } from '../ledger.ts';
import type { SeenConnection } from '../ledger-entries.ts';
import type { Checker, Complain } from './checker.ts';

/** Commands that may be answered while draining. */
const servedToTheEnd: ReadonlySet<number> = new Set([Command.Error, Command.Pong, Command.ConnectAck]);

export function endingsChecker(shutdownTimeoutMs: number, slackMs: number, framesMayLag: boolean): Checker {
  let drainingAt: number | undefined;
  let drainEpoch = Number.POSITIVE_INFINITY;
  let hasWork = false;
  /** Connections at the beginning of the drain. */
  let told: readonly SeenConnection[] = [];
  /** Connections at the failure of the store. */
  let bereft: ReadonlySet<SeenConnection> = new Set();
  return (fact, ledger, complain) => {
    switch (fact.kind) {
      case 'brokerEnded':
        if (!fact.connection.hasReasonToEnd)
          complain(`connection ${fact.connection.number} was closed for no reason`);
        if (bereft.has(fact.connection) && !fact.connection.wasToldOfEnd)
          complain(`connection ${fact.connection.number} was not told that the store has failed`);
        return;
      case 'disconnectFrame':
        checkDisconnect(fact, ledger, complain);
        return;
      case 'draining':
        drainingAt = fact.at;
        drainEpoch = ledger.epoch + 1;
        hasWork = ledger.figures?.inFlightCount !== 0;
        told = connectedOnes(ledger);
        return;
      case 'stepped':
        // What was handed over before the draining may still have been delivered.
        hasWork ||= ledger.isDraining && ledger.figures?.inFlightCount !== 0;
        return;
      case 'lifeEnded':
        drainEpoch = Number.POSITIVE_INFINITY;
        bereft = new Set(fact.how === 'storeFailed' ? connectedOnes(ledger) : []);
        return;
      case 'deliveredUnserved':
        if (!framesMayLag) complain(`${fact.frame.id} was delivered although the broker had lost its store`);
        return;
      case 'answered':
        if (fact.epoch > drainEpoch && !servedToTheEnd.has(fact.frame.command))
          complain(`connection ${fact.command.connection.number} was served after the draining began`);
        return;
      case 'ended':
        checkEnd(told, ledger, complain);
        if (!hasWork && fact.at > (drainingAt ?? 0) + slackMs)
          complain('the broker waited for nothing before its end');
        if (fact.at > (drainingAt ?? 0) + shutdownTimeoutMs + slackMs)
          complain(`the broker took ${fact.at - (drainingAt ?? 0)} ms to end, of ${shutdownTimeoutMs}`);
        return;
      default:
        return;
    }
  };
}

function connectedOnes({ connections }: Ledger): readonly SeenConnection[] {
  return [...connections.values()].filter(
    ({ isConnected, leavingSince }) => isConnected && leavingSince === undefined,
  );
}

function checkDisconnect(
  { connection, frame }: Extract<Fact, { kind: 'disconnectFrame' }>,
  ledger: Ledger,
  complain: Complain,
): void {
  if (!ledger.isDraining && !connection.isUnserved)
    complain(`connection ${connection.number} was told of an end that does not come`);
  const reason = connection.isUnserved ? 'storage_error' : 'server_shutdown';
  if (frame.headers.get('reason') !== reason)
    complain(`connection ${connection.number} was told a reason that it cannot be`);
}

function checkEnd(told: readonly SeenConnection[], ledger: Ledger, complain: Complain): void {
  for (const { number, wasToldOfEnd } of told) {
    if (!wasToldOfEnd) complain(`connection ${number} was not told of the end`);
  }
  for (const { number, hasEnded } of ledger.connections.values()) {
    if (!hasEnded) complain(`connection ${number} is open after the end`);
  }
}
