// Creates the frame object for checks from the received bytes. Clauses: BODY (header rules), JSON on the wire.
import { display, ExpectationFailure } from '../expectation.ts';
import { decodeBody } from './decode.ts';
import type { ReceivedFrame } from './frame.ts';
import type { RawFrame } from './frame-reader.ts';

/** Throws a WireFault if the body is invalid. */
export function receivedFrame(raw: RawFrame, atMs: number, sequence: number): ReceivedFrame {
  const fields = decodeBody(raw.body);
  const { flags, bodyLengthBytes } = raw;
  return {
    ...fields,
    atMs,
    sequence,
    flags,
    bodyLengthBytes,
    header: (name) => fields.headers.findLast(([key]) => key === name)?.[1],
    text: () => fields.payload.toString('utf8'),
    json: () => parsePayload(fields.payload, fields.commandName),
  };
}

function parsePayload(payload: Buffer, commandName: string): unknown {
  if (payload.length === 0) return undefined;
  try {
    return JSON.parse(payload.toString('utf8'));
  } catch {
    throw new ExpectationFailure(`the payload of ${commandName} is JSON`, {
      expected: 'one JSON text',
      actual: display(payload.toString('utf8')),
    });
  }
}
