// A fault of the peer, as a value: the protocol modules never throw because of received bytes. The value says what to answer; the caller
// sends it. Internal errors are thrown and never have this form. Implements FRAME-011 to FRAME-014 and BODY-029 to BODY-032.

import { ErrorCode } from '../model/error-code.ts';

export type ProtocolFault = {
  readonly kind: 'fault';
  readonly code: ErrorCode;
  /** For people; nothing may depend on it. */
  readonly text: string;
  /** True when the connection must end after the Error is sent. */
  readonly closes: boolean;
  /** The id of the faulty command, if it could be read. */
  readonly id?: string;
  /** With MESSAGE_TOO_LARGE for a frame: what is known of it. */
  readonly oversized?: OversizedFrame;
};

export type OversizedFrame = {
  /** As sent. */
  readonly bodyBytes: number;
  /** See `algorithmOf`. */
  readonly flags: number;
  /** A copy of those of its first bytes that have arrived, at most 1,024. */
  readonly start: Buffer;
};

export function isFault(value: object | undefined): value is ProtocolFault {
  return value !== undefined && 'kind' in value && value.kind === 'fault';
}

/** A fault of the frame itself: the start of the next frame is unknown, so the connection ends. */
export function framingFault(code: ErrorCode, text: string): ProtocolFault {
  return { kind: 'fault', code, text, closes: true };
}

/** A fault inside an intact frame: INVALID_MESSAGE, and the connection stays open. An empty id counts as not read. */
export function messageFault(text: string, id: string): ProtocolFault {
  const fault = { kind: 'fault', code: ErrorCode.InvalidMessage, text, closes: false } as const;
  return id === '' ? fault : { ...fault, id };
}
