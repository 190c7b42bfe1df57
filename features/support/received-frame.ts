// A frame that a client has received, and how it is told to a reader of a failure.

import { commandName } from '../../src/protocol/command.ts';
import type { Algorithm } from '../../src/protocol/compression.ts';
import type { Message, MessageFields } from '../../src/protocol/message.ts';

export type ReceivedFrame = {
  readonly message: Message;
  /** How the frame was compressed, if it was. */
  readonly algorithm: Algorithm | undefined;
  /** All of it, as it came. */
  readonly bytes: Buffer;
  /** The length of the body, uncompressed. */
  readonly bodyBytes: number;
  /** When it came, in the scenario's time. */
  readonly at: number;
};

export type FrameMatch = (frame: ReceivedFrame) => boolean;

/** One line: command, id and what else it carries. */
export function describeMessage(message: MessageFields): string {
  const { command, id, queue, payload, headers, errorCode, errorMessage } = message;
  const parts = [
    commandName(command) ?? `command ${command}`,
    `id=${id}`,
    queue ? `queue=${queue}` : '',
    payload && payload.length > 0 ? `payload=${shorten(payload.toString('utf8'))}` : '',
    headers && headers.size > 0 ? `headers=${shorten(JSON.stringify(Object.fromEntries(headers)))}` : '',
    errorCode ? `${errorCode}: ${errorMessage}` : '',
  ];
  return parts.filter((part) => part !== '').join(' ');
}

function shorten(text: string): string {
  return text.length <= 100 ? text : `${text.slice(0, 97)}...`;
}
