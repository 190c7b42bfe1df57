// A fault of the peer, as a value: the protocol modules never throw because of what arrived. What to answer stands in the
// value; sending it is the caller's work. Our own faults are thrown as errors and never take this form.
// Implements the outcomes of areas FRAME and BODY (FRAME-011 to FRAME-014, BODY-029 to BODY-032).

import { ErrorCode } from '../model/error-code.ts';

export type ProtocolFault = {
  readonly kind: 'fault';
  readonly code: ErrorCode;
  /** For people; nothing may depend on it. */
  readonly text: string;
  /** True when the connection ends after the Error is sent: the stream cannot be trusted any further. */
  readonly closes: boolean;
  /** The id of the faulty command, where it could be read. */
  readonly id?: string;
};

export function isFault(value: object | undefined): value is ProtocolFault {
  return value !== undefined && 'kind' in value && value.kind === 'fault';
}

/** A fault of the frame itself: where the next frame begins is no longer certain, so the connection ends. */
export function framingFault(code: ErrorCode, text: string): ProtocolFault {
  return { kind: 'fault', code, text, closes: true };
}

/** A fault inside an intact frame: INVALID_MESSAGE, and the connection stays. An empty id counts as not read. */
export function messageFault(text: string, id: string): ProtocolFault {
  const fault = { kind: 'fault', code: ErrorCode.InvalidMessage, text, closes: false } as const;
  return id === '' ? fault : { ...fault, id };
}
