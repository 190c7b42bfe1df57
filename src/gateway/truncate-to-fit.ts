// Keeps the frames that answer or tell something within the largest frame there may be, which the broker must never exceed: what
// is not needed to understand the answer is left out. Deliveries and payloads are not cut here. Implements FRAME-018.

import { Command } from '../protocol/command.ts';
import { encodedBodyLength } from '../protocol/encode.ts';
import { HeaderName } from '../protocol/header-name.ts';
import { type MessageFields, noHeaders } from '../protocol/message.ts';

/** The same fields, or fewer of them where they would not fit. Only Error and ConnectAck can be longer than their command. */
export function fittingFields(
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

/** What is agreed must be told; the rest of the headers is for people and for what exceeds the protocol. */
function shortConnectAck({ command, id, headers = noHeaders }: MessageFields): MessageFields {
  const agreed = headers.get(HeaderName.NegotiatedCompression);
  return agreed === undefined
    ? { command, id }
    : { command, id, headers: new Map([[HeaderName.NegotiatedCompression, agreed]]) };
}
