// The entry point of the package: binds the command line to this process. An interrupt ends a run with its verdict, a second one at once.
import { endingText, systemFaultText } from '../system-fault.ts';
import { exitCodes } from '../verdict.ts';
import { main } from './main.ts';
import { conversationOn } from './questions.ts';
import { terminalOf } from './terminal.ts';

// Until the command has said otherwise: a process that ends in some unforeseen way, or has nothing left to wait for, has shown nothing.
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
// A terminal that closes: what was started must be ended then too.
process.on('SIGHUP', onSignal);

// Whoever reads the output may stop reading it, as `head` does. A verdict that nobody could read is none: exit code 5.
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
// There is no other place to tell this; the exit code is as it would have been.
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
// What was abandoned by an interrupt must not keep the process alive; what was written must still leave it.
if (interrupt.signal.aborted) process.stdout.write('', () => process.exit());
