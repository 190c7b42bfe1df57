// A client's command, sound as far as the protocol goes, to an input of the core; or to the Error that answers it, when it
// lacks what the command needs. Implements the part of the precedence of errors between session and core (ERROR).

import type { ConnectionId, Input } from '../../broker/interface/input.ts';
import { ErrorCode } from '../../model/error-code.ts';
import { Priority } from '../../model/priority.ts';
import { Command } from '../../protocol/command.ts';
import { HeaderName } from '../../protocol/header-name.ts';
import { scanJson } from '../../protocol/json-scanner.ts';
import type { Message, MessageFields } from '../../protocol/message.ts';
import { readQueueOptions } from '../../protocol/queue-options-json.ts';
import { contentOf } from './content.ts';

/** What the core hands back with the answer of a command: enough to say which command it answers. */
export type CommandToken = {
  readonly command: number;
  readonly id: string;
  readonly queue: string;
};

export type Translated =
  | { readonly kind: 'input'; readonly input: Input }
  | { readonly kind: 'refusal'; readonly fields: MessageFields };

export type CommandOptions = {
  /** Whether a payload that is not one JSON text is refused. */
  readonly validatePayload: boolean;
};

/** The meaning of a command that the session has let through, with its uncompressed body. */
export function translateCommand(
  connection: ConnectionId,
  message: Message,
  body: Buffer,
  options: CommandOptions,
): Translated {
  const { command, id, queue } = message;
  if (command === Command.Ack) return asInput(acknowledgement(connection, message));
  const token: CommandToken = { command, id, queue };
  if (command === Command.ListQueues) return asInput({ kind: 'listQueues', connection, token });
  if (queue === '')
    return refusal(message, ErrorCode.InvalidQueue, 'This command needs the name of a queue.');
  switch (command) {
    case Command.Publish:
      return asInput({
        kind: 'publish',
        connection,
        token,
        queue,
        id,
        priority: priorityOf(message),
        content: contentOf(body, message),
        ...payloadFault(message, options),
      });
    case Command.Subscribe:
      return subscribe(connection, token, message);
    case Command.Unsubscribe:
      return asInput({ kind: 'unsubscribe', connection, token, queue });
    case Command.CreateQueue: {
      const read = message.payload.length === 0 ? {} : readQueueOptions(message.payload);
      return asInput({ kind: 'createQueue', connection, token, queue, ...read });
    }
    case Command.DeleteQueue:
      return asInput({ kind: 'deleteQueue', connection, token, queue });
    case Command.QueueInfo:
      return asInput({ kind: 'queueInfo', connection, token, queue });
    default:
      throw new Error(`Command ${command} was let through and is not translated.`);
  }
}

function asInput(input: Input): Translated {
  return { kind: 'input', input };
}

function refusal(message: Message, errorCode: ErrorCode, errorMessage: string): Translated {
  const fields = { command: Command.Error, id: message.id, queue: message.queue, errorCode, errorMessage };
  return { kind: 'refusal', fields };
}

/** An Ack names its message by its own id, or by a header where it has one; with a failure reason it is a negative one. */
function acknowledgement(connection: ConnectionId, message: Message): Input {
  const { headers } = message;
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

function subscribe(connection: ConnectionId, token: CommandToken, message: Message): Translated {
  const asked = message.headers.get(HeaderName.MaxInFlight);
  const input = { kind: 'subscribe', connection, token, queue: message.queue } as const;
  if (asked === undefined) return asInput(input);
  if (/^[1-9]\d{0,8}$/.test(asked)) return asInput({ ...input, maxInFlight: Number(asked) });
  const text = `The header ${HeaderName.MaxInFlight} must be a whole number from 1 up.`;
  return refusal(message, ErrorCode.InvalidMessage, text);
}

const prioritiesByName: ReadonlyMap<string, Priority> = new Map(
  Object.entries(Priority).map(([name, value]) => [name.toLowerCase(), value]),
);

function priorityOf({ headers }: Message): Priority {
  if (headers.size === 0) return Priority.Normal;
  const name = headers.get(HeaderName.Priority)?.toLowerCase() ?? '';
  return prioritiesByName.get(name) ?? Priority.Normal;
}

function payloadFault(
  { payload }: Message,
  { validatePayload }: CommandOptions,
): { readonly invalid: string } | undefined {
  if (!validatePayload || payload.length === 0) return undefined;
  const scanned = scanJson(payload);
  if (scanned === true) return undefined;
  return { invalid: `The payload is not a JSON text: ${scanned.reason} at byte ${scanned.offset}.` };
}
