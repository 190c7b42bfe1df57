// The broker ends a connection for a reason only, and itself in good order: clients are told first, and it takes no longer than it may.
// (CONN, SHUTDOWN)

import { Command } from '../../../protocol/command.ts';
import type { Ledger } from '../ledger.ts';
import type { SeenConnection } from '../ledger-entries.ts';
import type { Complain, Judge } from './judge.ts';

/** What may be answered while draining. */
const servedToTheEnd: ReadonlySet<number> = new Set([Command.Error, Command.Pong, Command.ConnectAck]);

export function endingsJudge(shutdownTimeoutMs: number, slackMs: number): Judge {
  let drainingAt: number | undefined;
  let drainEpoch = Number.POSITIVE_INFINITY;
  let hasWork = false;
  /** Those that were connected when the draining began. */
  let told: readonly SeenConnection[] = [];
  return (fact, ledger, complain) => {
    switch (fact.kind) {
      case 'brokerEnded':
        if (!fact.connection.hasReasonToEnd)
          complain(`connection ${fact.connection.number} was closed for no reason`);
        return;
      case 'disconnectFrame':
        if (!ledger.isDraining)
          complain(`connection ${fact.connection.number} was told of an end that does not come`);
        if (fact.frame.headers.get('reason') !== 'server_shutdown')
          complain(`connection ${fact.connection.number} was told a reason that it cannot be`);
        return;
      case 'draining':
        drainingAt = fact.at;
        drainEpoch = ledger.epoch + 1;
        hasWork = ledger.figures?.inFlightCount !== 0;
        told = [...ledger.connections.values()].filter(
          ({ isConnected, leavingSince }) => isConnected && leavingSince === undefined,
        );
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

function checkEnd(told: readonly SeenConnection[], ledger: Ledger, complain: Complain): void {
  for (const { number, wasToldOfEnd } of told) {
    if (!wasToldOfEnd) complain(`connection ${number} was not told of the end`);
  }
  for (const { number, hasEnded } of ledger.connections.values()) {
    if (!hasEnded) complain(`connection ${number} is open after the end`);
  }
}
