// The entry point of the package: runs the command line in this process. An interrupt ends a run with its verdict, a second one ends it
// immediately.
import { endingText, systemFaultText } from '../system-fault.ts';
import { exitCodes } from '../verdict.ts';
import { main } from './main.ts';
import { conversationOn } from './questions.ts';
import { terminalOf } from './terminal.ts';

// The exit code until the command returns one: a process that ends unexpectedly has not produced a verdict.
process.exitCode = exitCodes.runner;
process.on('uncaughtException', (error) => {
  process.stderr.write(`truemq-conformance: ${endingText(error)}\n`);
  process.exit(exitCodes.runner);
});

const interrupt = new AbortController();
const onSignal = (): void => {
  if (interrupt.signal.aborted) process.exit(exitCodes.runner);
  interrupt.abort();
};
process.on('SIGINT', onSignal);
process.on('SIGTERM', onSignal);
// When the terminal closes, started brokers must be stopped too.
process.on('SIGHUP', onSignal);

// The reader of the output may stop reading, as `head` does. Then the verdict is lost: exit code 5.
const lostOutput = new AbortController();
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  const isFirst = !lostOutput.signal.aborted;
  lostOutput.abort();
  if (isFirst && error.code !== 'EPIPE') {
    const reason = systemFaultText(error) ?? error.message;
    process.stderr.write(`truemq-conformance: standard output could not be written: ${reason}\n`);
  }
  process.exitCode = exitCodes.runner;
});
// This cannot be reported anywhere else; the exit code does not change.
process.stderr.on('error', () => {});

const isConversation = process.stdin.isTTY === true && process.stdout.isTTY === true;
const conversation = isConversation
  ? conversationOn(process.stdin, process.stdout, interrupt.signal)
  : undefined;
const terminal = {
  ...terminalOf(process.stdout, process.stderr, process.env),
  ...(conversation === undefined ? {} : { ask: conversation.ask }),
};

const exitCode = await main(process.argv.slice(2), terminal, interrupt.signal);
conversation?.end();
process.exitCode = lostOutput.signal.aborted ? exitCodes.runner : exitCode;
// Abandoned work, such as a wait for a broker that does not answer, must not keep the process alive, but all output must be written, and that
// it was not must be known: its error comes after this call back.
process.stdout.write('', () => setImmediate(() => process.exit()));
