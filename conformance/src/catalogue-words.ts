// The levels, profiles and capabilities that checks, targets and reports use. A version of the specification fixes its profiles. A
// capability is an optional feature that a broker may declare.

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
  /** Random scenarios, judged by their history and by a model of all permitted behaviour. */
  'model',
] as const;
export type Profile = (typeof profiles)[number];

/** `full` selects and claims every profile except `model`: random scenarios run only if `model` is named. */
export const profileNames = [...profiles, 'full'] as const;
export type ProfileName = (typeof profileNames)[number];

export const capabilities = {
  brotli: 'accepts and sends brotli frames',
  gzip: 'accepts and sends gzip frames',
  nack: 'negative acknowledgments: Ack with header failureReason',
  maxInFlight: 'Subscribe with header maxInFlight sets the window',
  prometheus: 'metrics in Prometheus text',
  fileStore: 'its durable store consists of files in the data directory, which one broker uses at a time',
  requeue: 'dead letters can be moved back through the dashboard',
} as const;
export type Capability = keyof typeof capabilities;

/** Rules about these features bind only a broker that announces them in ConnectAck. */
export const announcedCapabilities: ReadonlySet<string> = new Set<Capability>(['nack', 'maxInFlight']);

/** True if `level` is as strict as `other`, or stricter. */
export function isAtLeast(level: Level, other: Level): boolean {
  return levels.indexOf(level) >= levels.indexOf(other);
}
