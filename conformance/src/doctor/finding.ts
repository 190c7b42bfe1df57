// The mistakes that the doctor can name, with a title and a remedy for each. Other files find the mistakes. `docs/getting-started.md`
// lists the same.

export const mistakes = {
  'stdout-text': {
    title: 'the adapter prints other text to standard output before its answer',
    remedy:
      'Send logs and banners to standard error. The first line on standard output must be the JSON answer, and nothing else.',
  },
  'port-closed': {
    title: 'the broker does not listen at the address that the adapter reports',
    remedy:
      'Answer only once everything listens, with the port that was really taken, and the host that it is bound to.',
  },
  'length-prefix': {
    title: 'the frame has another length prefix than the protocol says',
    remedy:
      'A frame is 4 bytes of length, big-endian, that count the body alone; 1 byte of flags (0); then the body. See the chapter on frames.',
  },
  'answer-id': {
    title: 'an answer does not carry the id of its command',
    remedy: 'Copy the id of the command into its answer: clients find the answer to a command by it.',
  },
  'not-flushed': {
    title: 'an answer is written, but not sent until something else happens',
    remedy:
      'Flush after each answer, or switch buffering off: whoever waits for the answer sends nothing more before it.',
  },
  credentials: {
    title: 'the broker asks for credentials that it was not configured with',
    remedy:
      'Where the configuration says `authentication: null`, start the broker without authentication. To attach to a broker that asks for some, give them: --username and --password-file, or --token-file.',
  },
  'health-path': {
    title: 'the health record is not where it is said to be',
    remedy:
      'The URL is the base: the record must answer at /health/ below it, as JSON with a `status`, and the metrics at /metrics/.',
  },
  'not-delivered': {
    title: 'a published message does not come to the subscriber of its queue',
    remedy:
      'After SubscribeAck the broker sends a Deliver for each message of the queue: id, queue, payload and headers as they were published. Look at what Subscribe stores, and at what a Publish does with it.',
  },
  'delivery-differs': {
    title: 'a delivery is not what was published',
    remedy:
      'A Deliver carries the id, the queue and the payload of the Publish. The payload may be written otherwise, but must be the same JSON value.',
  },
  'ack-ignored': {
    title: 'an acknowledged message is still there',
    remedy:
      'An Ack carries the message id as its own id, and has no answer. It settles the delivery: the message leaves the queue, and is not given back when its connection ends.',
  },
  'data-lost': {
    title: 'what was stored is gone after a restart',
    remedy:
      'Keep everything in the `dataDirectory` of the configuration, with storage `durable` or `sqlite`: a restart gets the same folder again. Or take `durable` out of the profiles.',
  },
  'ignores-stop': {
    title: 'the broker does not end when it is told to',
    remedy:
      'End on SIGTERM (on Windows: when standard input closes). An adapter that starts the broker as its child passes the signal on; a shell script does so with `exec` or `trap`.',
  },
  'outlives-input': {
    title: 'the broker does not end when the standard input of its adapter does',
    remedy:
      'Read standard input to its end, and stop then as on SIGTERM: it is how an adapter learns that the runner was killed, and the only way to ask for a stop on Windows.',
  },
  'too-slow': {
    title: 'the broker is slower than the deadlines of the runner',
    remedy: 'Give the runner more time, with the scale that is named above.',
  },
  'no-answer': {
    title: 'the broker does not answer',
    remedy: 'Its log may say why: the last lines are below. `run --trace all --only CONN` shows every byte.',
  },
  refused: {
    title: 'the broker refuses what every broker must take',
    remedy:
      'The error says why. With the default configuration anybody may connect, create queues and publish.',
  },
  'no-start': {
    title: 'the target does not start',
    remedy:
      'Run its command by hand and see what it says; give an adapter the line of configuration that docs/adapter.md shows.',
  },
  unreachable: {
    title: 'no broker listens at the address of the target file',
    remedy:
      'Start the broker, or correct endpoints.tcp in the target file: the runner does not start this one.',
  },
} as const;

export type MistakeName = keyof typeof mistakes;

export type DoctorFinding = {
  readonly mistake: MistakeName;
  /** The observation in one sentence. */
  readonly seen: string;
};

/** One line of the examination. */
export type ExaminationStep = {
  readonly name: string;
  readonly outcome: 'ok' | 'found' | 'skipped';
  readonly text: string;
};

export type Diagnosis = {
  readonly steps: readonly ExaminationStep[];
  readonly findings: readonly DoctorFinding[];
  /** The broker started, so that it could be examined. */
  readonly started: boolean;
  readonly log: readonly string[];
};
