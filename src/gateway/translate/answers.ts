// Translates an answer of the core to its frame. Every answer carries the id and, but for NOT_AUTHORIZED, the queue of its command. Implements CONN-006, CONN-008,
// CONN-010 and FRAME-025.

import type { AnsweredEffect, RefusedEffect } from '../../broker/interface/effect.ts';
import { ErrorCode } from '../../model/error-code.ts';
import { Command } from '../../protocol/command.ts';
import { encodedBodyLength } from '../../protocol/encode.ts';
import type { MessageFields } from '../../protocol/message.ts';
import { queueInfoPayload } from '../../protocol/queue-options-json.ts';
import { QueueListCache } from './queue-list.ts';
import type { CommandToken } from './tokens.ts';

/** The frame that answers a command positively. `lists` is shared by the answers of one batch. */
export function answerFields(
  { command, id, queue }: CommandToken,
  result: AnsweredEffect['result'],
  maxBodyBytes: number,
  lists = new QueueListCache(),
): MessageFields {
  const fields = { command: answerTo(command), id, queue };
  if (result === undefined || result === null) return fields;
  const maxPayloadBytes = maxBodyBytes - encodedBodyLength(fields);
  const payload = 'length' in result ? lists.payloadOf(result, maxPayloadBytes) : queueInfoPayload(result);
  if (payload !== undefined && payload.length <= maxPayloadBytes) return { ...fields, payload };
  const errorMessage = `The answer has more than ${maxBodyBytes} bytes and does not fit into a frame.`;
  return { command: Command.Error, id, queue, errorCode: ErrorCode.MessageTooLarge, errorMessage };
}

/** The Error that refuses a command. */
export function refusalFields(effect: RefusedEffect): MessageFields {
  const { id, queue } = effect.token as CommandToken;
  const fields = { command: Command.Error, id, errorCode: effect.code, errorMessage: effect.text };
  // As existing brokers: what the user may not touch is not named.
  return effect.code === ErrorCode.NotAuthorized ? fields : { ...fields, queue };
}

function answerTo(command: number): number {
  switch (command) {
    case Command.Publish:
      return Command.PublishAck;
    case Command.Subscribe:
      return Command.SubscribeAck;
    case Command.Unsubscribe:
      return Command.UnsubscribeAck;
    default:
      return command;
  }
}
