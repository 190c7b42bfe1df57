// Faults in agreeing on compression and in using it. Area: COMPRESS.
import type { Mutant } from './mutant.ts';

const protocol = 'src/protocol/compression.ts';
const session = 'src/session/server-session.ts';
const reader = 'src/session/message-reader.ts';

export const compressionMutants: readonly Mutant[] = [
  {
    id: 'compress-own-preference',
    title: "the broker's preference decides, not the client's",
    file: protocol,
    find: "for (const name of (offered ?? '').split(',')) {",
    replace: "for (const name of (offered ?? '').split(',').sort()) {",
    mustFail: ['COMPRESS-009a'],
    mayFail: ['COMPRESS-012a'],
  },
  {
    id: 'compress-no-agreement-named',
    title: 'a missing agreement is named none',
    file: session,
    find: 'if (this.#negotiated !== undefined) headers.set(HeaderName.NegotiatedCompression, this.#negotiated);',
    replace: "headers.set(HeaderName.NegotiatedCompression, this.#negotiated ?? 'none');",
    mustFail: ['COMPRESS-010a', 'COMPRESS-011a'],
  },
  {
    id: 'compress-names-by-case',
    title: 'the names of algorithms are compared with regard to case',
    file: protocol,
    find: 'candidate === name.trim().toLowerCase()',
    replace: 'candidate === name.trim()',
    mustFail: ['COMPRESS-012a'],
  },
  {
    id: 'compress-first-name-only',
    title: 'only the first name of the list is looked at',
    file: protocol,
    find: 'if (algorithm !== undefined) return algorithm;',
    replace: 'return algorithm;',
    mustFail: ['COMPRESS-013a'],
    mayFail: ['COMPRESS-011a'],
  },
  {
    id: 'compress-without-agreement',
    title: 'large frames are compressed also where nothing was agreed',
    file: session,
    find: 'bodyLengthBytes >= this.#options.compressionThresholdBytes ? this.#negotiated : undefined',
    replace:
      "bodyLengthBytes >= this.#options.compressionThresholdBytes ? (this.#negotiated ?? 'gzip') : undefined",
    mustFail: ['COMPRESS-004a', 'COMPRESS-011a'],
  },
  {
    id: 'compress-below-threshold',
    title: 'a body one byte below the threshold is compressed',
    file: session,
    find: 'bodyLengthBytes >= this.#options.compressionThresholdBytes ?',
    replace: 'bodyLengthBytes >= this.#options.compressionThresholdBytes - 1 ?',
    mustFail: ['COMPRESS-005a'],
  },
  {
    id: 'compress-always-brotli',
    title: 'brotli is sent whatever was agreed',
    file: session,
    find: 'bodyLengthBytes >= this.#options.compressionThresholdBytes ? this.#negotiated : undefined',
    replace:
      "bodyLengthBytes >= this.#options.compressionThresholdBytes && this.#negotiated ? 'brotli' : undefined",
    mustFail: ['COMPRESS-007a'],
  },
  {
    id: 'compress-plain-after-compressed',
    title: 'a plain frame after a compressed one is taken for compressed',
    file: reader,
    find: '    const algorithm = algorithmOf(frame.flags);',
    replace:
      '    const memory = this as { last?: Algorithm };\n    const algorithm = algorithmOf(frame.flags) ?? memory.last;\n    if (algorithm !== undefined) memory.last = algorithm;',
    mustFail: ['COMPRESS-001a'],
    mayFail: ['COMPRESS-002a', 'COMPRESS-003a', 'COMPRESS-004a', 'COMPRESS-016a', 'COMPRESS-018a'],
  },
  {
    id: 'compress-gzip-read-as-brotli',
    title: 'gzip frames are read as brotli',
    file: protocol,
    find: "if (flags === FrameFlags.Gzip) return 'gzip';",
    replace: "if (flags === FrameFlags.Gzip) return 'brotli';",
    mustFail: ['COMPRESS-002a', 'COMPRESS-016a'],
    mayFail: ['COMPRESS-001a', 'COMPRESS-004a', 'COMPRESS-018a'],
  },
  {
    id: 'compress-brotli-read-as-gzip',
    title: 'brotli frames are read as gzip',
    file: protocol,
    find: "return flags === FrameFlags.Brotli ? 'brotli' : undefined;",
    replace: "return flags === FrameFlags.Brotli ? 'gzip' : undefined;",
    mustFail: ['COMPRESS-003a', 'COMPRESS-016a'],
  },
  {
    id: 'compress-threshold-binds-reader',
    title: 'a compressed frame with a short body is refused',
    file: reader,
    find: 'return isFault(result) ? result : read(result);',
    replace:
      "if (!isFault(result) && result.length < 1024) return framingFault(ErrorCode.InvalidMessage, 'x');\n    return isFault(result) ? result : read(result);",
    mustFail: ['COMPRESS-018a'],
  },
];
