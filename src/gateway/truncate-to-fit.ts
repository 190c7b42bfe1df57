// Keeps Error and ConnectAck frames within the maximum frame size: drops the fields that are not needed to understand the answer.
// Does not shorten deliveries and payloads. Implements FRAME-018.

import { Command } from '../protocol/command.ts';
import { encodedBodyLength } from '../protocol/encode.ts';
import { HeaderName } from '../protocol/header-name.ts';
import { type MessageFields, noHeaders } from '../protocol/message.ts';

/** The same fields, or fewer when they do not fit. Only Error and ConnectAck can be longer than their command. */
export function truncateToFit(
  fields: MessageFields,
  maxBodyBytes: number,
  freshId: () => string,
): MessageFields {
  if (fields.command !== Command.Error && fields.command !== Command.ConnectAck) return fields;
  if (encodedBodyLength(fields) <= maxBodyBytes) return fields;
  return fields.command === Command.Error
    ? shortError(fields, maxBodyBytes, freshId)
    : shortConnectAck(fields);
}

function shortError(fields: MessageFields, maxBodyBytes: number, freshId: () => string): MessageFields {
  const { command, id, errorCode = '' } = fields;
  const short = { command, id, errorCode };
  return encodedBodyLength(short) <= maxBodyBytes ? short : { ...short, id: freshId() };
}

/** Keeps the negotiated compression; the other headers are optional. */
function shortConnectAck({ command, id, headers = noHeaders }: MessageFields): MessageFields {
  const agreed = headers.get(HeaderName.NegotiatedCompression);
  return agreed === undefined
    ? { command, id }
    : { command, id, headers: new Map([[HeaderName.NegotiatedCompression, agreed]]) };
}
