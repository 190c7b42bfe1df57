// The program in a broker host: starts one broker in this process for each request line, and ends when its stdin closes. It is bundled with
// the broker and gets the broker's function for adapter requests, so it imports nothing of either side. broker-host.ts is the other end
// and explains why hosts exist.
import { createInterface } from 'node:readline';
import { Readable, Writable } from 'node:stream';

/** A line from the runner, which numbers the brokers. */
export type HostOrder = { readonly broker: number; readonly request: unknown };

/** A line to the runner: the adapter's answer as it is, or a line of one broker's log. */
export type HostNews =
  | { readonly broker: number; readonly answer: string }
  | { readonly broker: number; readonly log: string };

/** The command context that the broker's adapter expects; it uses only the log. */
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

/** An exception of a broker ends the process, as in a process of its own. */
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
