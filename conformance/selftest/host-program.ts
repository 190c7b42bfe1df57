// What runs in a broker host: it starts one broker for each request line in this process, and lives until its stdin closes. It is bundled
// with the broker and given the broker's own way to answer an adapter's request, so it imports nothing of either side. The other
// end, and why there are hosts, is broker-host.ts.
import { createInterface } from 'node:readline';
import { Readable, Writable } from 'node:stream';

/** A line from the runner. Brokers are numbered by it. */
export type HostOrder = { readonly broker: number; readonly request: unknown };

/** A line to the runner: the adapter's answer as it is, or a line of one broker's log. */
export type HostNews =
  | { readonly broker: number; readonly answer: string }
  | { readonly broker: number; readonly log: string };

/** What the broker's adapter takes as a command's surroundings; of them, it uses the log. */
type Surroundings = {
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly isTerminal: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly onStopSignal: () => () => void;
  readonly exitNow: (code: number) => void;
};

type AnswerRequest = (line: Buffer, surroundings: Surroundings) => Promise<{ readonly answer: string }>;

/** What a broker throws ends the process, as it does where a broker has one of its own. */
export function hostBrokers(answerRequest: AnswerRequest): void {
  const answer = async ({ broker, request }: HostOrder): Promise<void> => {
    const line = Buffer.from(JSON.stringify(request));
    const answered = await answerRequest(line, surroundingsOf(broker));
    tell({ broker, answer: answered.answer.trimEnd() });
  };
  const orders = createInterface({ input: process.stdin });
  orders.on('line', (line) => void answer(JSON.parse(line) as HostOrder));
  orders.on('close', () => process.exit());
}

function surroundingsOf(broker: number): Surroundings {
  return {
    stdin: Readable.from([]),
    stdout: process.stdout,
    stderr: logOf(broker),
    isTerminal: false,
    environment: process.env,
    onStopSignal: () => () => {},
    exitNow: (code) => process.exit(code),
  };
}

/** The logger writes whole lines. */
function logOf(broker: number): Writable {
  return new Writable({
    write: (chunk, _encoding, done) => {
      tell({ broker, log: String(chunk).trimEnd() });
      done();
    },
  });
}

function tell(news: HostNews): void {
  process.stdout.write(`${JSON.stringify(news)}\n`);
}
