// Ids of messages and commands: unique among all clients, and cheaper than a random id for each.

import { randomBytes } from 'node:crypto';

/** A function whose ids are a random text, chosen once, and a number that counts up. They do not begin with a dash: commands take them as arguments. */
export function sequentialIds(random: () => Buffer = () => randomBytes(16)): () => string {
  const prefix = random().toString('base64url').replace(/^-/, '_');
  let count = 0;
  return () => {
    count += 1;
    return `${prefix}-${count}`;
  };
}
