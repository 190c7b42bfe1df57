// Faults in reading and limiting frames. Area: FRAME.
import type { Mutant } from './mutant.ts';

const splitter = 'src/protocol/frame-splitter.ts';
const options = 'src/backend/local/options-from-configuration.ts';

/** Checks that send frames so large that they come in several pieces. */
const largeFrames = [
  'FRAME-001a',
  'FRAME-003a',
  'FRAME-005a',
  'FRAME-011a',
  'FRAME-018a',
  'FRAME-021a',
  'FRAME-026a',
  'FRAME-027a',
] as const;

export const framingMutants: readonly Mutant[] = [
  {
    id: 'frame-length-of-two-bytes',
    title: 'only the last two bytes of a length are read',
    file: 'src/protocol/byte-backlog.ts',
    find: 'return this.#buffer.readUInt32BE(this.#start + index);',
    replace: 'return this.#buffer.readUInt16BE(this.#start + index + 2);',
    mustFail: ['FRAME-001a', 'FRAME-003a'],
    mayFail: [...largeFrames, 'FRAME-019a'],
  },
  {
    id: 'frame-limit-excludes-itself',
    title: 'a body of exactly MaxMessageSize is refused',
    file: splitter,
    find: 'if (bodyLength > limit) {',
    replace: 'if (bodyLength >= limit) {',
    mustFail: ['FRAME-003a', 'FRAME-018a'],
    mayFail: ['FRAME-021a'],
  },
  {
    id: 'frame-limit-one-too-many',
    title: 'every limit on the size of a message is one byte too high',
    file: options,
    find: '  const { maxMessageSizeBytes, maxDecompressedSizeBytes } = configuration;',
    replace: `  const maxMessageSizeBytes = configuration.maxMessageSizeBytes + 1;
  const maxDecompressedSizeBytes = maxMessageSizeBytes;
  configuration = { ...configuration, maxMessageSizeBytes };`,
    mustFail: ['FRAME-005a', 'FRAME-011a', 'FRAME-017a', 'FRAME-019a'],
  },
  {
    id: 'frame-shortest-of-one-byte',
    title: 'a body of one byte is taken for a message that breaks off',
    file: splitter,
    find: 'if (bodyLength < minMessageSizeBytes) {',
    replace: 'if (bodyLength < minMessageSizeBytes - 1) {',
    mustFail: ['FRAME-004a'],
    mayFail: ['FRAME-010a'],
  },
  {
    id: 'frame-flags-three-are-none',
    title: 'the flags 0x03 are read as no compression',
    file: splitter,
    find: 'if (flags <= highestFrameFlags) return undefined;',
    replace: 'if (flags <= highestFrameFlags + 1) return undefined;',
    mustFail: ['FRAME-006a'],
  },
  {
    id: 'frame-tolerates-truncated-gzip',
    title: 'a gzip body that breaks off is taken as far as it goes',
    file: 'src/gateway/compressor.ts',
    find: 'return { maxOutputLength: limitBytes, info: true };',
    replace:
      'return { maxOutputLength: limitBytes, info: true, finishFlush: constants.Z_SYNC_FLUSH } as never;',
    mustFail: ['FRAME-007a'],
  },
  {
    id: 'frame-undecompressable-is-passed-over',
    title: 'a body that does not decompress costs only the frame, not the connection',
    file: 'src/gateway/compressor.ts',
    find: "return framingFault(ErrorCode.InvalidMessage, 'The body does not decompress.');",
    replace:
      "return { ...framingFault(ErrorCode.InvalidMessage, 'The body does not decompress.'), closes: false };",
    mustFail: ['FRAME-007a', 'FRAME-007b'],
    mayFail: ['FRAME-010a'],
  },
  {
    id: 'frame-halves-in-one-buffer',
    title: 'short beginnings of frames are kept in one buffer for all connections',
    file: 'src/protocol/byte-backlog.ts',
    find: 'if (this.length === 0) this.#replace(Buffer.from(chunk), chunk.length, false);',
    replace: `if (this.length === 0 && chunk.length < 64) {
      const memory = globalThis as { halves?: Buffer };
      memory.halves ??= Buffer.alloc(64);
      chunk.copy(memory.halves);
      this.#replace(memory.halves, chunk.length, false);
    } else if (this.length === 0) this.#replace(Buffer.from(chunk), chunk.length, false);`,
    mustFail: ['FRAME-010a', 'CONN-021a'],
    mayFail: ['FRAME-015a', 'FRAME-015b', 'FRAME-028a', 'CONN-016a'],
  },
  {
    id: 'frame-code-of-large-lengths',
    title: 'a length over the limit is called INVALID_MESSAGE',
    file: splitter,
    find: `        ErrorCode.MessageTooLarge,
        \`A frame of`,
    replace: `        ErrorCode.InvalidMessage,
        \`A frame of`,
    mustFail: ['FRAME-011a'],
  },
  {
    id: 'frame-code-of-unknown-flags',
    title: 'unknown flags are called MESSAGE_TOO_LARGE',
    file: splitter,
    find: 'framingFault(ErrorCode.InvalidMessage, `The compression flags',
    replace: 'framingFault(ErrorCode.MessageTooLarge, `The compression flags',
    mustFail: ['FRAME-012a'],
  },
  {
    id: 'frame-fault-leaves-open',
    title: 'the connection stays open, unread, after a framing fault',
    file: 'src/protocol/fault.ts',
    find: "return { kind: 'fault', code, text, closes: true };",
    replace: "return { kind: 'fault', code, text, closes: false };",
    mustFail: ['FRAME-013a', 'FRAME-007a', 'FRAME-007b'],
    mayFail: ['FRAME-004a', 'FRAME-005a', 'FRAME-006a', 'FRAME-010a', 'FRAME-017a', 'FRAME-027a'],
  },
  {
    id: 'frame-close-drops-answers',
    title: 'what is not yet written is dropped when a connection ends',
    file: 'src/gateway/outbound.ts',
    find: '    this.#isEnding = true;',
    replace: '    this.#isEnding = true;\n    this.#frames = [];',
    mustFail: ['FRAME-014a', 'CONN-025a'],
    mayFail: [
      ...['FRAME-004a', 'FRAME-005a', 'FRAME-006a', 'FRAME-007a', 'FRAME-007b', 'FRAME-010a', 'FRAME-011a'],
      ...['FRAME-012a', 'FRAME-013a', 'FRAME-019a', 'FRAME-027a', 'CONN-011a'],
    ],
  },
  {
    id: 'frame-last-byte-alone',
    title: 'a frame whose last byte comes alone is never complete',
    file: splitter,
    find: 'if (missing > 0) this.#partial.append(this.#input.take(missing), length);',
    replace: 'if (missing > 1) this.#partial.append(this.#input.take(missing), length);',
    mustFail: ['FRAME-015b'],
    mayFail: [...largeFrames, 'FRAME-015a', 'FRAME-010a'],
  },
  {
    id: 'frame-pieces-beyond-room-lost',
    title: 'what comes when the room for a frame is used up is lost',
    file: 'src/protocol/byte-backlog.ts',
    find: 'if (!this.#writable || this.#end + chunk.length > this.#buffer.length)',
    replace: 'if (!this.#writable)',
    mustFail: ['FRAME-015a'],
    mayFail: ['FRAME-015b', ...largeFrames, 'FRAME-010a'],
  },
  {
    id: 'frame-sixteen-a-piece',
    title: 'at most sixteen frames of one piece are read',
    file: 'src/gateway/server-connection.ts',
    find: '    while (!this.#mustWait()) {',
    replace: '    for (let count = 0; count < 16 && !this.#mustWait(); count += 1) {',
    mustFail: ['FRAME-016a'],
    mayFail: ['FRAME-015a'],
  },
  {
    id: 'frame-header-waits-for-body',
    title: 'a length over the limit is noticed only when the body is there',
    file: splitter,
    find: '    if (fault !== undefined) {',
    replace: '    if (fault !== undefined && source.length > frameHeaderBytes) {',
    mustFail: ['FRAME-017a'],
    mayFail: ['FRAME-010a', 'FRAME-004a'],
  },
  {
    id: 'frame-taken-one-byte-early',
    title: 'a frame is taken when its last byte is still missing',
    file: splitter,
    find: `    if (source.length < frameLength) return this.#waitFor(frameLength);
    this.#frameCount += 1;
    source.skip(frameHeaderBytes);
    return { flags, body: source.take(bodyLength) };`,
    replace: `    if (source.length < frameLength - 1) return this.#waitFor(frameLength);
    this.#frameCount += 1;
    source.skip(frameHeaderBytes);
    return { flags, body: source.take(Math.min(bodyLength, source.length)) };`,
    mustFail: ['FRAME-028a'],
    mayFail: [...largeFrames, 'FRAME-015a', 'FRAME-015b', 'FRAME-019a', 'FRAME-010a'],
  },
  {
    id: 'frame-overgrown-body-is-broken',
    title: 'a body that grows beyond the limit is called INVALID_MESSAGE and costs only the frame',
    file: 'src/gateway/compressor.ts',
    find: `    return framingFault(
      ErrorCode.MessageTooLarge,`,
    replace: `    if (limitBytes) return { ...framingFault(ErrorCode.InvalidMessage, 'x'), closes: false };
    return framingFault(
      ErrorCode.MessageTooLarge,`,
    mustFail: ['FRAME-019a', 'FRAME-027a'],
  },
  {
    id: 'frame-inflates-one-byte-less',
    title: 'a body that decompresses to exactly the limit is refused',
    file: 'src/session/message-reader.ts',
    find: 'limitBytes: this.#limits.maxDecompressedSizeBytes,',
    replace: 'limitBytes: this.#limits.maxDecompressedSizeBytes - 1,',
    mustFail: ['FRAME-026a'],
  },
  {
    id: 'frame-header-added-regardless',
    title: 'a header is added to a message that is as large as a message may be',
    file: 'src/gateway/translate/content.ts',
    find: 'encodedBodyLength(extended) <= maxBodyBytes ? extended : fields',
    replace: 'extended',
    mustFail: ['FRAME-018a'],
  },
  {
    id: 'frame-added-header-counts',
    title: 'the header that the broker adds counts for the limit of fifty',
    file: 'src/gateway/translate/content.ts',
    find: 'encodedBodyLength(extended) <= maxBodyBytes ? extended : fields',
    replace:
      '(extended.headers?.size ?? 0) <= 50 && encodedBodyLength(extended) <= maxBodyBytes ? extended : fields',
    mustFail: ['FRAME-023a'],
  },
];
