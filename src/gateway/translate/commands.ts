// Translates a client's command, valid as far as the protocol goes, to an input of the core; or to the Error that answers it, when a part
// that the command needs is missing. Implements ERROR-004 and the part of the precedence of errors between session and core (ERROR-012,
// ERROR-015).

import type { ConnectionId, Input } from '../../broker/interface/input.ts';
import { ErrorCode } from '../../model/error-code.ts';
import { Priority } from '../../model/priority.ts';
import { Command } from '../../protocol/command.ts';
import type { DecodedMessage } from '../../protocol/decode.ts';
import type { FramePlace } from '../../protocol/frame-splitter.ts';
import { HeaderName } from '../../protocol/header-name.ts';
import { scanJson } from '../../protocol/json-scanner.ts';
import type { Message } from '../../protocol/message.ts';
import { readQueueOptions } from '../../protocol/queue-options-json.ts';
import { contentOf } from './content.ts';
import { type CommandToken, readyAnswer } from './tokens.ts';

export type CommandOptions = {
  /** Whether a payload that is not one JSON text is refused. */
  readonly validatePayload: boolean;
};

/** The input for a command that the session accepted; `place`: where its uncompressed body is. */
export function translateCommand(
  connection: ConnectionId,
  message: DecodedMessage,
  place: FramePlace,
  options: CommandOptions,
): Input {
  const { command, id, queue } = message;
  if (command === Command.Ack) return acknowledgement(connection, message);
  const token: CommandToken = { command, id, queue };
  if (command === Command.ListQueues) return { kind: 'listQueues', connection, token };
  if (queue === '')
    return refusal(connection, message, ErrorCode.InvalidQueue, 'This command needs the name of a queue.');
  switch (command) {
    case Command.Publish: {
      const priority = priorityOf(message);
      const invalid = payloadFault(message, options);
      const content = contentOf(place, message);
      const input = { kind: 'publish', connection, token, queue, id, priority, content } as const;
      return invalid === undefined ? input : { ...input, invalid };
    }
    case Command.Subscribe:
      return subscribe(connection, token, message);
    case Command.Unsubscribe:
      return { kind: 'unsubscribe', connection, token, queue };
    case Command.CreateQueue: {
      const read = message.payload.length === 0 ? {} : readQueueOptions(message.payload);
      return { kind: 'createQueue', connection, token, queue, ...read };
    }
    case Command.DeleteQueue:
      return { kind: 'deleteQueue', connection, token, queue };
    case Command.QueueInfo:
      return { kind: 'queueInfo', connection, token, queue };
    default:
      throw new Error(`Command ${command} was let through and is not translated.`);
  }
}

/** The Error that answers a command, in its turn. */
function refusal(
  connection: ConnectionId,
  { id, queue }: Message,
  errorCode: ErrorCode,
  errorMessage: string,
): Input {
  return readyAnswer(connection, { command: Command.Error, id, queue, errorCode, errorMessage });
}

/** An Ack names its message by header messageId, or without that by its own id. With a failure reason it is a negative ack. */
function acknowledgement(connection: ConnectionId, message: Message): Input {
  const { headers } = message;
  if (headers.size === 0 && message.queue === '') return { kind: 'acknowledge', connection, id: message.id };
  const id = headers.get(HeaderName.MessageId) ?? message.id;
  const named = message.queue === '' ? { connection, id } : { connection, id, queue: message.queue };
  const reason = headers.get(HeaderName.FailureReason);
  if (reason === undefined) return { kind: 'acknowledge', ...named };
  const isForGood = reason === 'DeserializationError';
  return {
    kind: 'negativeAcknowledge',
    ...named,
    reason: isForGood ? 'DeserializationError' : 'HandlerException',
  };
}

/** As the client library allows it. The core takes what is above its own limit for that. */
const LARGEST_WINDOW = 2_147_483_647;

function subscribe(connection: ConnectionId, token: CommandToken, message: Message): Input {
  const asked = message.headers.get(HeaderName.MaxInFlight);
  const input = { kind: 'subscribe', connection, token, queue: message.queue } as const;
  if (asked === undefined) return input;
  const maxInFlight = /^[1-9]\d{0,9}$/.test(asked) ? Number(asked) : Number.NaN;
  if (maxInFlight <= LARGEST_WINDOW) return { ...input, maxInFlight };
  const text = `The header ${HeaderName.MaxInFlight} must be a whole number from 1 to ${LARGEST_WINDOW}.`;
  return refusal(connection, message, ErrorCode.InvalidMessage, text);
}

const prioritiesByName: ReadonlyMap<string, Priority> = new Map(
  Object.entries(Priority).map(([name, value]) => [name.toLowerCase(), value]),
);

function priorityOf({ headers }: Message): Priority {
  if (headers.size === 0) return Priority.Normal;
  const name = headers.get(HeaderName.Priority)?.toLowerCase() ?? '';
  return prioritiesByName.get(name) ?? Priority.Normal;
}

/** Why the payload is refused; undefined if it is not. */
function payloadFault(message: DecodedMessage, { validatePayload }: CommandOptions): string | undefined {
  if (!validatePayload || message.payloadLength === 0) return undefined;
  const scanned = scanJson(message.bytes, message.payloadStart, message.payloadEnd);
  if (scanned === true) return undefined;
  return `The payload is not a JSON text: ${scanned.reason} at byte ${scanned.offset}.`;
}
