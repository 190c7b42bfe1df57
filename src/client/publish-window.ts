// How many publishes a client takes on before it makes its caller wait: a window of those that are sent and not yet confirmed, and a larger
// bound for all that it holds. Counts only; publisher.ts keeps the publishes. Implements CLIENT-045.

import { checkKeys, checkNumber, type KeysOf } from './option-checks.ts';

export type PublishWindowOptions = {
  /** Publishes that wait for their PublishAck. Default 4,096. */
  readonly maxCount?: number;
  /** Bytes of the messages that wait for their PublishAck. Default 8 MiB; one message may exceed it alone. */
  readonly maxBytes?: number;
  /** Publishes that wait to be sent, beyond the window. Default 65,536. */
  readonly maxWaitingCount?: number;
  /** Bytes of the messages that wait to be sent. Default 64 MiB. */
  readonly maxWaitingBytes?: number;
};

const optionKeys: KeysOf<PublishWindowOptions> = {
  maxCount: true,
  maxBytes: true,
  maxWaitingCount: true,
  maxWaitingBytes: true,
};

/** @throws TypeError for an unknown option; RangeError when a number is not in its range */
export function toPublishWindow(options: PublishWindowOptions = {}): Required<PublishWindowOptions> {
  checkKeys('publishWindow', options, optionKeys);
  return {
    maxCount: checked('maxCount', options.maxCount ?? 4_096, 1),
    maxBytes: checked('maxBytes', options.maxBytes ?? 8_388_608, 1),
    maxWaitingCount: checked('maxWaitingCount', options.maxWaitingCount ?? 65_536, 0),
    maxWaitingBytes: checked('maxWaitingBytes', options.maxWaitingBytes ?? 67_108_864, 0),
  };
}

/** A number of messages and their bytes. */
export class MessageTally {
  count = 0;
  bytes = 0;

  add(bytes: number): void {
    this.count += 1;
    this.bytes += bytes;
  }

  remove(bytes: number): void {
    this.count -= 1;
    this.bytes -= bytes;
  }

  /** Whether a message of this size may be added. The first one always may, whatever its size. */
  hasRoom(bytes: number, maxCount: number, maxBytes: number): boolean {
    return this.count < maxCount && (this.count === 0 || this.bytes + bytes <= maxBytes);
  }
}

function checked(name: string, value: number, minimum: number): number {
  checkNumber(`publishWindow.${name}`, value, minimum, Number.POSITIVE_INFINITY);
  return value;
}
