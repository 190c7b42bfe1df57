// The text form of bcrypt hashes: which cost a hash has, and hashes that no password is known for. Computes no hash.

/** A hash of a higher cost would keep a processor busy for seconds to minutes, so that it counts as no hash. */
export const MAX_PASSWORD_COST = 15;
export const MIN_PASSWORD_COST = 4;

const form = /^\$2[aby]\$(\d\d)\$[./A-Za-z\d]{53}$/;

/** The cost of a hash; undefined if the text is not a bcrypt hash that this broker checks. */
export function costOf(hash: string): number | undefined {
  const cost = Number(form.exec(hash)?.[1]);
  return cost >= MIN_PASSWORD_COST && cost <= MAX_PASSWORD_COST ? cost : undefined;
}

/** A hash of this cost that belongs to no user. Salt and digest are zeros: it costs nothing to make, and as much to check as any other. */
export function decoyHash(cost: number): string {
  return `$2b$${String(cost).padStart(2, '0')}$${'.'.repeat(53)}`;
}
