// The events of the dashboard's live stream (`api/events`), which the page and `truemq top` read. Types only. Instants are milliseconds since
// 1970 by the broker's clock; rates are per second, over the time since the point before.

/** The broker in one second. */
export type Point = {
  readonly at: number;
  readonly publishedRate: number;
  readonly deliveredRate: number;
  readonly acknowledgedRate: number;
  /** Errors as `total_errors` counts them. */
  readonly errorRate: number;
  readonly waitingCount: number;
  readonly inFlightCount: number;
  /** Times from acceptance to first delivery, estimated from the histogram; null when nothing was delivered for the first time. */
  readonly latencyP50Ms: number | null;
  readonly latencyP99Ms: number | null;
  readonly memoryBytes: number;
  readonly connectionCount: number;
};

/** The last 15 minutes, oldest first: for each field of a point a list, all of the same length. */
export type Points = { readonly [Field in keyof Point]: readonly Point[Field][] };

export type Health = {
  readonly isHealthy: boolean;
  /** Why not, in words with numbers; empty when healthy. */
  readonly reasons: readonly string[];
};

/** What of a queue stays the same while it exists. Enumerations by the names of the specification (`RoundRobin`, `DropOldest`). */
export type QueueFacts = {
  /** Never used for another queue while the broker runs. */
  readonly id: number;
  readonly name: string;
  readonly deliveryMode: string;
  readonly maxQueueSize: number;
  readonly overflowStrategy: string;
  readonly maxRetryAttempts: number;
  readonly messageTtlMs: number | null;
  /** Null: it has none. */
  readonly deadLetterQueueName: string | null;
  readonly createdAt: number;
  /** Waiting messages over the last 15 minutes, every 15 seconds, oldest first, at most 60 numbers. Empty: nothing ever waited. */
  readonly depths: readonly number[];
};

/** What of a queue changes. A list, since 10,000 of them may come at once. */
export type QueueValues = readonly [
  id: number,
  waitingCount: number,
  inFlightCount: number,
  /** Messages that entered, a second. */
  publishedRate: number,
  /** Deliveries sent, a second. */
  deliveredRate: number,
  /** When the oldest waiting message was accepted; 0: none waits. */
  oldestAt: number,
  subscriberCount: number,
  /** 1: messages are in flight, and for 10 s or longer none has been acknowledged. */
  isNotAcknowledging: 0 | 1,
  /** Dead letters among its messages, waiting or in flight. */
  deadLetterCount: number,
];

export type SubscriberValues = {
  /** As in the log: `connection 12`. */
  readonly connection: number;
  readonly inFlightCount: number;
  /** The most deliveries that it may have in flight; null: no limit. */
  readonly window: number | null;
};

/** The queue that the stream was opened for (`?queue=NAME`). */
export type WatchedQueue = {
  readonly id: number;
  /** At most 100. */
  readonly subscribers: readonly SubscriberValues[];
};

/** The last 15 minutes of the watched queue, every 15 seconds, oldest first. */
export type QueueHistory = {
  readonly at: readonly number[];
  readonly waitingCount: readonly number[];
  readonly inFlightCount: readonly number[];
  readonly publishedRate: readonly number[];
  readonly deliveredRate: readonly number[];
};

/** Where clients connect: a port of the broker's machine. */
export type TcpAddress = { readonly port: number; readonly tls: boolean };

/** The first event of a stream, also after it was interrupted: `event: snapshot`. */
export type Snapshot = {
  readonly serverVersion: string;
  /** The broker's clock when this was made. */
  readonly now: number;
  readonly memoryLimitBytes: number;
  /** Whether the dashboard asks for credentials. */
  readonly asksForCredentials: boolean;
  /** Where clients connect. Absent while they cannot. */
  readonly tcp?: TcpAddress;
  readonly health: Health;
  readonly points: Points;
  readonly queues: readonly QueueFacts[];
  readonly values: readonly QueueValues[];
  /** Absent without `?queue=`, and when there is no such queue. */
  readonly watched?: WatchedQueue & { readonly history: QueueHistory };
};

/** Every second: `event: change`. At most about 20 kB: of more queues the values that were not sent for longest come first, the rest later. */
export type Change = {
  readonly now: number;
  readonly health: Health;
  readonly point: Point;
  /** Queues that are new. */
  readonly created?: readonly QueueFacts[];
  readonly values: readonly QueueValues[];
  /** The ids of queues that do not exist any more. */
  readonly removed?: readonly number[];
  readonly watched?: WatchedQueue;
};
