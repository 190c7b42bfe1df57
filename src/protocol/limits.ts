// The sizes that one side of a connection accepts. They are checked before memory is allocated for an announced length. Implements the
// limits of FRAME-005, FRAME-008, BODY-016, BODY-026 and BODY-028; spec/tables/limits.yaml has the same numbers.

export type ProtocolLimits = {
  /** Longest frame body, in bytes as sent (after compression). */
  readonly maxMessageSizeBytes: number;
  /** Longest body after decompression, in bytes. */
  readonly maxDecompressedSizeBytes: number;
  readonly maxHeaderCount: number;
  /** Longest header value, in UTF-16 units. */
  readonly maxHeaderValueLength: number;
  readonly maxIdBytes: number;
};

export const defaultLimits: ProtocolLimits = {
  maxMessageSizeBytes: 1_048_576,
  maxDecompressedSizeBytes: 1_048_576,
  maxHeaderCount: 50,
  maxHeaderValueLength: 4096,
  maxIdBytes: 256,
};

/** A frame body holds at least the version byte and the command byte. */
export const minMessageSizeBytes = 2;

/** Longest string that a 2-byte length can announce, in bytes. */
export const maxStringBytes = 65_535;

/** Largest number of header pairs that the 2-byte count can announce. */
export const maxEncodableHeaderCount = 65_535;
