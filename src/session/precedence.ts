// Decides which fault of a decoded command is answered when it has several: one list, in order. Earlier faults (frame, body) are found
// while reading; later ones (queue name, right, existence, payload, repeat, overflow) need the broker. Implements ERROR-007 to ERROR-017,
// with the rules of CONN-001 to CONN-004, CONN-011 to CONN-013 and CONN-026 to CONN-030.

import { ErrorCode } from '../model/error-code.ts';
import { Command, commandName } from '../protocol/command.ts';
import type { DecodedMessage } from '../protocol/decode.ts';
import { messageFault, type ProtocolFault } from '../protocol/fault.ts';
import { type CheckedQueueName, checkFieldRules } from '../protocol/field-rules.ts';
import type { ProtocolLimits } from '../protocol/limits.ts';
import { type Message, protocolVersion } from '../protocol/message.ts';

export type PrecedenceContext = {
  readonly connected: boolean;
  readonly limits: ProtocolLimits;
  readonly checkedQueueName: CheckedQueueName;
  readonly servedCommands: ReadonlySet<number>;
  readonly admit: (message: DecodedMessage) => ProtocolFault | undefined;
};

/** The first fault in the order version, rate, authentication, field rules, command; undefined when there is none. */
export function firstFault(message: DecodedMessage, context: PrecedenceContext): ProtocolFault | undefined {
  return (
    checkVersion(message, context) ??
    context.admit(message) ??
    checkAuthentication(message, context) ??
    checkFieldRules(message, context.limits, context.checkedQueueName) ??
    checkCommand(message, context)
  );
}

/** Only the Connect that opens a connection states a version; in later frames the byte has no meaning (CONN-013). */
function checkVersion(message: Message, context: PrecedenceContext): ProtocolFault | undefined {
  if (context.connected || message.command !== Command.Connect || message.version === protocolVersion)
    return undefined;
  const text = `Version ${message.version} of the protocol is not served here; ${protocolVersion} is.`;
  return { kind: 'fault', code: ErrorCode.UnsupportedVersion, text, closes: true };
}

function checkAuthentication(message: Message, context: PrecedenceContext): ProtocolFault | undefined {
  if (context.connected || commandsBeforeConnect.has(message.command)) return undefined;
  return { kind: 'fault', code: ErrorCode.NotAuthenticated, text: 'Connect first.', closes: false };
}

const commandsBeforeConnect: ReadonlySet<number> = new Set([
  Command.Connect,
  Command.Ping,
  Command.Disconnect,
]);

function checkCommand(message: Message, context: PrecedenceContext): ProtocolFault | undefined {
  if (context.connected && message.command === Command.Connect) {
    return messageFault('The connection is connected already.', message.id);
  }
  if (context.servedCommands.has(message.command)) return undefined;
  const text = `The command ${commandName(message.command) ?? message.command} is not served here.`;
  return { kind: 'fault', code: ErrorCode.UnknownCommand, text, closes: false };
}
