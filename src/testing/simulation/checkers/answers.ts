// Checks answers: every command is answered exactly once, with its id and a possible error code, in the order of the commands except for
// publishes that wait for room; blocked publishes are accepted in arrival order (CONN, ERROR, OVERFLOW).

import { OverflowStrategy } from '../../../model/overflow-strategy.ts';
import { Command, commandName } from '../../../protocol/command.ts';
import type { Fact, Ledger } from '../ledger.ts';
import type { SeenCommand } from '../ledger-entries.ts';
import { type Checker, type Complain, isRepeated } from './checker.ts';

type Answered = Extract<Fact, { kind: 'answered' }>;

const codes: Readonly<Record<number, readonly string[]>> = {
  [Command.Publish]: [
    'QUEUE_FULL',
    'MEMORY_LIMIT',
    'MESSAGE_TOO_LARGE',
    'RATE_LIMITED',
    'QUEUE_NOT_FOUND',
    'LIMIT_EXCEEDED',
  ],
  [Command.Subscribe]: ['LIMIT_EXCEEDED', 'QUEUE_NOT_FOUND'],
  [Command.CreateQueue]: ['QUEUE_EXISTS', 'LIMIT_EXCEEDED'],
};

export function answersChecker(framesMayLag: boolean): Checker {
  /** Publishes accepted in this batch, to be compared with older ones at its end. */
  let accepted: SeenCommand[] = [];
  return (fact, ledger, complain) => {
    switch (fact.kind) {
      case 'answered':
        if (fact.command.connection.isUnserved) return checkUnserved(fact, framesMayLag, complain);
        checkOrder(fact, ledger, complain);
        checkCode(fact, ledger, complain);
        if (fact.command.sent.command === Command.Publish) accepted.push(fact.command);
        return;
      case 'unasked':
        if (!fact.connection.owesFaultAnswer || fact.frame.command !== Command.Error) {
          const name = commandName(fact.frame.command);
          complain(
            `connection ${fact.connection.number} was sent ${name} ${fact.frame.id}, which answers nothing`,
          );
        }
        fact.connection.owesFaultAnswer = false;
        return;
      case 'stepped':
        if (!framesMayLag) for (const command of accepted) checkTurn(command, ledger, complain);
        accepted = [];
        return;
      case 'lifeEnded':
        accepted = [];
        return;
      case 'idle':
        if (!ledger.isDraining) checkNothingIsOwed(fact.restful, ledger, complain);
        return;
      default:
        return;
    }
  };
}

function checkOrder({ command }: Answered, ledger: Ledger, complain: Complain): void {
  for (const other of command.connection.open) {
    if (other.order < command.order && !mayWait(other, ledger))
      complain(`${describe(command)} was answered before ${describe(other)}`);
  }
}

/** Without its store the broker answers Ping, and no earlier commands. */
function checkUnserved({ command, frame }: Answered, framesMayLag: boolean, complain: Complain): void {
  if (framesMayLag || frame.command === Command.Pong) return;
  if (frame.command !== Command.Error)
    complain(`${describe(command)} was served although the broker had lost its store`);
  else if (command.sent.command === Command.Connect && frame.errorCode !== 'STORAGE_ERROR')
    complain(`${describe(command)} was refused with ${frame.errorCode}, and the store has failed`);
}

function checkCode({ command, frame }: Answered, ledger: Ledger, complain: Complain): void {
  const { sent } = command;
  const failed = frame.command === Command.Error;
  if (sent.fault !== undefined && !failed) complain(`${describe(command)} is broken and was accepted`);
  if (!failed || sent.fault !== undefined) return;
  const code = frame.errorCode;
  if (code === 'SHUTTING_DOWN' && ledger.isDraining) return;
  if (codes[sent.command]?.includes(code) !== true) complain(`${describe(command)} was refused with ${code}`);
  if (code === 'QUEUE_FULL' && !mayBeFull(command, ledger))
    complain(`${describe(command)} was refused with ${code}`);
}

function mayBeFull({ sent, afterEpoch }: SeenCommand, ledger: Ledger): boolean {
  const info = ledger.queue(sent.queue).info;
  if (info === undefined || ledger.isDisturbed(sent.queue, afterEpoch + 1)) return true;
  const { overflowStrategy } = info.options;
  return (
    overflowStrategy === OverflowStrategy.DropNewest || overflowStrategy === OverflowStrategy.BlockPublisher
  );
}

/** Whether the command may be a publish that waits for room. */
function mayWait({ sent, afterEpoch }: SeenCommand, ledger: Ledger): boolean {
  if (sent.command !== Command.Publish || sent.fault !== undefined) return false;
  if (ledger.isDisturbed(sent.queue, afterEpoch + 1)) return true;
  return ledger.queue(sent.queue).info?.options.overflowStrategy === OverflowStrategy.BlockPublisher;
}

/** No publish that certainly arrived earlier at the same queue may still wait. */
function checkTurn(command: SeenCommand, ledger: Ledger, complain: Complain): void {
  const { sent, afterEpoch } = command;
  const message = ledger.messages.get(sent.published?.number ?? -1);
  // A repeat of an accepted message does not wait.
  if (message?.state !== 'accepted' || isRepeated(message, ledger)) return;
  for (const connection of ledger.connections.values()) {
    if (connection.leavingSince !== undefined) continue;
    for (const other of connection.open) {
      const cameBefore = other.takenEpoch !== undefined && other.takenEpoch <= afterEpoch;
      if (ledger.isDisturbed(sent.queue, other.afterEpoch + 1)) continue;
      if (cameBefore && other.sent.command === Command.Publish && other.sent.queue === sent.queue)
        complain(`${describe(command)} was accepted before ${describe(other)}, which waits for longer`);
    }
  }
}

function checkNothingIsOwed(restful: ReadonlySet<number>, ledger: Ledger, complain: Complain): void {
  for (const number of restful) {
    const connection = ledger.connections.get(number);
    if (connection === undefined || connection.leavingSince !== undefined) continue;
    for (const command of connection.open) {
      const info = ledger.queue(command.sent.queue).info;
      const isFull = info !== undefined && info.messageCount >= info.options.maxQueueSize;
      if (!mayWait(command, ledger) || !isFull) complain(`${describe(command)} has no answer`);
    }
  }
}

function describe({ connection, sent }: SeenCommand): string {
  const to = sent.queue === '' ? '' : ` to ${sent.queue}`;
  return `${commandName(sent.command)} ${sent.id}${to} of connection ${connection.number}`;
}
