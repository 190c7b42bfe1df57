// The closed lists of words that checks, targets and reports share: levels, profiles, capabilities. A profile is frozen with the
// version of the specification; a capability is something optional that a broker may declare.

export const levels = ['MAY', 'SHOULD', 'MUST'] as const;
export type Level = (typeof levels)[number];

export const profiles = [
  'core',
  'delivery',
  'retry-dlq',
  'durable',
  'compression',
  'auth',
  'tls',
  'limits',
  'observability',
  'dashboard',
  /** Random scenarios, judged as a whole: by their history, and by a model of what may come. */
  'model',
] as const;
export type Profile = (typeof profiles)[number];

/** `full` selects and claims every profile but `model`: what is drawn at random is played for those who name it. */
export const profileNames = [...profiles, 'full'] as const;
export type ProfileName = (typeof profileNames)[number];

export const capabilities = {
  brotli: 'takes and sends brotli frames',
  gzip: 'takes and sends gzip frames',
  nack: 'negative acknowledgments: Ack with header failureReason',
  maxInFlight: 'Subscribe with header maxInFlight fixes the window',
  prometheus: 'metrics in Prometheus text',
  fileStore: 'its durable store is in files of the data directory, for one broker at a time',
  requeue: 'dead letters can be moved back through the dashboard',
} as const;
export type Capability = keyof typeof capabilities;

/** True when `level` binds at least as hard as `other`. */
export function isAtLeast(level: Level, other: Level): boolean {
  return levels.indexOf(level) >= levels.indexOf(other);
}
