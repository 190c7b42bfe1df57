// The flag of `truemq pub` and `truemq sub` for a broker that takes larger messages than the default.

import { formatSize, parseSize } from '../config/size.ts';
import { defaultLimits } from '../protocol/limits.ts';
import { type Arguments, type FlagKind, UsageError } from './arguments.ts';

const LEAST_BYTES = 256;
const MOST_BYTES = 67_108_864;

export const messageSizeFlags = { 'max-message-size': 'text' } as const satisfies Readonly<
  Record<string, FlagKind>
>;

export const MESSAGE_SIZE_HELP = `  --max-message-size SIZE the largest message, if the broker takes larger ones than existing clients read [${formatSize(
  defaultLimits.maxMessageSizeBytes,
)}]`;

/** The largest body of a frame, in bytes: 256 to 64 MiB. @throws UsageError */
export function parseMessageSize({ texts }: Arguments): number {
  const text = texts.get('max-message-size');
  if (text === undefined) return defaultLimits.maxMessageSizeBytes;
  const bytes = parseSize(text) ?? 0;
  if (bytes >= LEAST_BYTES && bytes <= MOST_BYTES) return bytes;
  const allowed = `allowed is 256 to ${formatSize(MOST_BYTES)}, as a number of bytes, 64KiB or 4MiB`;
  throw new UsageError(`--max-message-size: came ${JSON.stringify(text)}; ${allowed}`);
}
