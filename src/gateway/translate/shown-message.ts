// A message as it is shown to people: its content decoded, and the headers that its next delivery adds. Implements DASH-009 and DASH-014 on
// the gateway's side.

import type { MessageSnapshot } from '../../broker/interface/operator-result.ts';
import type { Priority } from '../../model/priority.ts';
import { decodeMessage } from '../../protocol/decode.ts';
import { isFault } from '../../protocol/fault.ts';
import { scanJson } from '../../protocol/json-scanner.ts';
import type { Headers } from '../../protocol/message.ts';
import type { KeptContent } from '../kept-content.ts';
import { deadLetterHeaders } from './content.ts';

export type ShownMessage = {
  readonly id: string;
  readonly queue: string;
  /** A JSON text, as it was published; a JSON string of the payload when that is no JSON. Undefined: published without a payload. */
  readonly payload: string | undefined;
  /** When its queue took it, in milliseconds since 1970. */
  readonly acceptedWallAt: number;
  /** Those of a dead letter included. */
  readonly headers: Headers;
  readonly version: number;
  readonly priority: Priority;
  /** How often it was sent from its queue. */
  readonly sentCount: number;
  readonly isInFlight: boolean;
};

export function shownMessage(snapshot: MessageSnapshot): ShownMessage {
  const { id, queue, content, acceptedWallAt, priority, sentCount, isInFlight, deadLetter } = snapshot;
  const message = decodeMessage((content as KeptContent).toBytes());
  if (isFault(message)) throw new Error(`The content of message ${id} cannot be decoded.`);
  const added = deadLetter === undefined ? [] : deadLetterHeaders(deadLetter);
  return {
    id,
    queue,
    payload: message.payload.length === 0 ? undefined : jsonTextOf(message.payload),
    acceptedWallAt,
    headers: new Map([...message.headers, ...added]),
    version: message.version,
    priority,
    sentCount,
    isInFlight,
  };
}

/** A payload need not be JSON when the broker does not validate payloads. */
function jsonTextOf(payload: Buffer): string {
  const text = payload.toString('utf8');
  return scanJson(payload) === true ? text : JSON.stringify(text);
}
