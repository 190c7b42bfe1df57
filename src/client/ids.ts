// Ids of messages and commands: unique among all clients, and cheaper than a random id for each.

import { randomUUID } from 'node:crypto';

/** A function whose ids are a random text, chosen once, and a number that counts up. */
export function sequentialIds(): () => string {
  const prefix = randomUUID().replaceAll('-', '');
  let count = 0;
  return () => {
    count += 1;
    return `${prefix}-${count.toString(36)}`;
  };
}
