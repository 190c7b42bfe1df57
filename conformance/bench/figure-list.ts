// The figures in the documentation: the meaning of each, its goal, and the command that measures it. A table; `npm run bench` measures
// them, figure-document.ts writes them into the document.

export type FigureEntry = {
  readonly name: string;
  readonly title: string;
  /** What it measures, and the goal. */
  readonly text: string;
  /** Arguments of `node`; `--reps` and `--json` are added. */
  readonly command: readonly string[];
  readonly roundCount: number;
};

const skeleton = 'conformance/bench/skeleton/target.json';
const reference = 'conformance/targets/truemq.json';

const benchOf = (targets: readonly string[], ...args: readonly string[]): readonly string[] => [
  'conformance/bin/truemq-conformance.mjs',
  'bench',
  '--target',
  targets.join(),
  ...args,
];
const bench = (...args: readonly string[]): readonly string[] => benchOf([skeleton, reference], ...args);

const script = (name: string): readonly string[] => ['--import', 'tsx', `conformance/bench/${name}.ts`];

export const figureEntries: readonly FigureEntry[] = [
  {
    name: 'throughput',
    title: 'Throughput',
    text: `One publisher with 256 unconfirmed messages, one subscriber with 256 unacknowledged ones, in memory. Goal: 0.55 of the
skeleton and 3.5 µs of server processor time at 1 KiB, 0.45 of the skeleton at 100 B, 0.6 of it at 16 KiB.`,
    command: bench('--job', 'throughput', '--size', '100,1024,16384'),
    roundCount: 5,
  },
  {
    name: 'latency',
    title: 'Latency',
    text: `From the moment at which a message fell due to its delivery, at a rate that does not wait for the broker. Goal: 100 µs for half
of the messages and 600 µs for 99 of 100 at 2,000 msg/s; 5 ms for 99 of 100 at half of what the broker takes. How other brokers do there is not measured here.`,
    command: bench('--job', 'latency', '--rate', '2000,half'),
    roundCount: 5,
  },
  {
    name: 'fan-out',
    title: 'Fan-out',
    text: `One publisher, every message to every subscriber; CPU is per message published. Goal: 0.45 of the skeleton for 1 to 100 with
acknowledgments.`,
    command: bench('--job', 'fan-out', '--subscribers', '10,100'),
    roundCount: 5,
  },
  {
    name: 'large-bodies',
    title: 'Large bodies',
    text: 'As throughput, with bodies of 64 KiB and of nearly 1 MiB, the largest that a broker takes by default.',
    command: bench('--job', 'throughput', '--size', '65536,1000000', '--window', '32', '--prefetch', '32'),
    roundCount: 5,
  },
  {
    name: 'each-confirm',
    title: 'A client that waits for each confirm',
    text: 'As throughput, with one unconfirmed message at a time: how long a message and its confirm are on their way.',
    command: bench('--job', 'throughput', '--window', '1'),
    roundCount: 5,
  },
  {
    name: 'shapes',
    title: 'Many parties',
    text: `Messages of 1 KiB; one process is all the parties, so compare the processor time of the server and not the rate. The skeleton
knows no priorities.`,
    command: script('shapes'),
    roundCount: 5,
  },
  {
    name: 'compression',
    title: 'Compression',
    text: `Publisher and subscriber compress all that they send, and get it compressed; in brackets the ratio to the same load uncompressed.
The skeleton knows no compression.`,
    command: script('compression'),
    roundCount: 5,
  },
  {
    name: 'tls',
    title: 'TLS',
    text: 'As throughput, over TLS; the skeleton too.',
    command: bench('--job', 'throughput', '--size', '100,1024,16384', '--tls'),
    roundCount: 5,
  },
  {
    name: 'authentication',
    title: 'Authentication and access lists',
    text: `As throughput, by a user whose access list has three entries; the skeleton checks nothing. Compare the ratios with those of the part
Throughput.`,
    command: bench('--job', 'throughput', '--size', '100,1024,16384', '--authentication', 'users'),
    roundCount: 5,
  },
  {
    name: 'depth',
    title: 'Growth',
    text: `Messages of 100 B through one queue at a constant length; in brackets the ratio to 10 messages waiting. Goal: no amount costs a
fifth more.`,
    command: script('depth'),
    roundCount: 9,
  },
  {
    name: 'start',
    title: 'Footprint',
    text: `Goal: 65 MiB when idle, 250 ms from start to handshake, 176 MiB for 100,000 queued messages of 1 KiB, 16 MiB for 1,000 idle
connections. Idle is a process that has had nothing to do for 12 s: by then the runtime has given back what its start has left.`,
    command: script('start'),
    roundCount: 5,
  },
  {
    name: 'loop-hold',
    title: 'How long the loop is held',
    text: `The longest time for which a Ping on another connection was not answered, and how long it took until nothing waited any
more. Goal: 50 ms. Messages expire together only where the broker has stood still, so it is stopped for 41 s; what that does by itself
stands in a row of its own.`,
    command: script('loop-hold'),
    roundCount: 3,
  },
  {
    name: 'memory-limit',
    title: 'More than fits',
    text: `10,000 messages of 1 MiB for a broker whose memoryLimit is 1 GiB: the rest is refused with MEMORY_LIMIT, what was accepted is delivered
and acknowledged, and then it accepts again. The process stays within the limit.`,
    command: script('memory-limit'),
    roundCount: 3,
  },
  {
    name: 'memory-truth',
    title: 'What is held and what the process takes',
    text: `What a broker must hold after each pattern (contents, and a constant for each message, queue, subscription and connection) and
what its process has grown by. Allowed: 1.5 times what is held plus 64 MiB; where clients try to exceed a memory limit of 512 MiB, that
limit for the most that was resident.`,
    command: script('memory-truth'),
    roundCount: 1,
  },
  {
    name: 'slow-reader',
    title: 'One that never reads',
    text: `Nine subscribers that read, and a tenth that does not; in brackets the ratio to the nine alone. Goal: within 15 percent of
server processor time per message.`,
    command: script('slow-reader'),
    roundCount: 5,
  },
  {
    name: 'durable',
    title: 'Durable',
    text: `As throughput and latency, every message in an SQLite file and safe on the disk (synchronous FULL) before it is confirmed or
delivered; the skeleton does the same with nothing around it. Goal: 0.75 of the skeleton, and a confirm within 10 ms for 99 of 100
at half of the most.`,
    command: bench('--job', 'throughput,latency', '--rate', 'half', '--storage', 'durable'),
    roundCount: 5,
  },
  {
    name: 'synchronous',
    title: 'What safety against a loss of power costs',
    text: `The same load on two durable brokers: one waits for the disk at every commit, the other leaves that to the operating system; in
brackets the ratio to the first. Without it most confirms come sooner and the slowest later: the system's disk gets all at once, when
the write-ahead log is copied into the file. What each promises: [durability](../guides/durability.md).`,
    command: benchOf(
      ['conformance/bench/synchronous/full.json', 'conformance/bench/synchronous/normal.json'],
      ...['--job', 'throughput,latency', '--rate', 'half', '--storage', 'durable'],
    ),
    roundCount: 5,
  },
  {
    name: 'recovery',
    title: 'Recovery',
    text: `A durable broker is killed with 1,000,000 messages of 1 KiB in its store and started again. Goal: 15 s until it serves, and less
memory than twice what it holds.`,
    command: script('recovery'),
    roundCount: 3,
  },
];
