// Plants every fault of the answers in the answers of each command, and runs all checks against each:
//   node --import tsx conformance/selftest/proxy/answers.ts [--fault NAME] [--answer COMMAND] [--at N,N] [--jobs N] [--scale N] [--least N]
// A broker's fault is never an error of the runner, so no check may end with `error` twice, and the exit code must not be 4. Prints a table
// row for each run, and below it the repeated checks and every error. Takes long and is no part of `npm test`. The reference broker must be built.
import { parseArgs } from 'node:util';
import { exitCodes } from '../../src/verdict.ts';
import { Command, type CommandName } from '../../src/wire/command.ts';
import { workOff } from '../idle-crew.ts';
import { answerFaults, isFaultName, type PlantedFault } from './faults.ts';
import { ProxyProgram, runProxied } from './proof.ts';

/** The commands with which a broker answers. */
const answers = [
  'ConnectAck',
  'Pong',
  'PublishAck',
  'SubscribeAck',
  'UnsubscribeAck',
  'CreateQueue',
  'DeleteQueue',
  'QueueInfo',
  'ListQueues',
  'Error',
] as const satisfies readonly CommandName[];

const { values } = parseArgs({
  options: {
    fault: { type: 'string' },
    answer: { type: 'string' },
    at: { type: 'string', default: '1,5' },
    jobs: { type: 'string', default: '24' },
    scale: { type: 'string', default: '0.25' },
    least: { type: 'string', default: '2' },
  },
});
if (values.fault !== undefined && !isFaultName(values.fault))
  throw new Error(`${values.fault} is not a fault`);
if (values.answer !== undefined && !Object.hasOwn(Command, values.answer))
  throw new Error(`${values.answer} is not a command`);

const planted: readonly PlantedFault[] = values.at
  .split(',')
  .flatMap((at) =>
    answerFaults
      .filter((name) => name === (values.fault ?? name))
      .flatMap((name) =>
        answers
          .filter((answer) => answer === (values.answer ?? answer))
          .map((answer) => ({ name, at: Number(at), seed: 1, answer })),
      ),
  );
const program = new ProxyProgram();

async function tryFault(fault: PlantedFault): Promise<void> {
  const where = `${fault.name} --at ${fault.at} --answer ${fault.answer}`;
  const profiles = ['full'] as const;
  const first = await runProxied(program, fault, {
    profiles,
    jobs: Number(values.jobs),
    timeoutScale: Number(values.scale),
  });
  const only = first.results.filter(({ outcome }) => outcome === 'error').map(({ id }) => id);
  // A busy machine causes errors too. Each of these checks runs again without other checks, and with the usual deadlines.
  const repeated = only.length === 0 ? first : await runProxied(program, fault, { profiles, only, jobs: 1 });
  const found = repeated.results
    .filter(({ outcome }) => outcome === 'error')
    .map(({ id, reason, starved }) => `${id}: ${starved === true ? '(starved) ' : ''}${firstLine(reason)}`);
  const { exitCode, reason } = first.verdict;
  if (exitCode === exitCodes.target) found.push(`exit code ${exitCode}: ${reason}`);
  if (exitCode === exitCodes.runner && only.length === 0) found.push(`exit code ${exitCode}: ${reason}`);
  const counts = [first.results.length, only.length, found.length, exitCode];
  process.stdout.write(`| ${where} | ${counts.join(' | ')} |\n`);
  for (const { id, reason } of first.results.filter((result) => only.includes(result.id)))
    process.stdout.write(`repeated ${id}: ${firstLine(reason)}\n`);
  for (const line of found) process.stdout.write(`FAIL ${where}: ${line}\n`);
  if (found.length > 0) process.exitCode = 1;
}

function firstLine(text = ''): string {
  return text.split('\n')[0] ?? '';
}

process.stdout.write(
  '| fault | results | errors | errors when repeated | exit code |\n|---|---|---|---|---|\n',
);
await workOff(planted, tryFault, { least: Number(values.least), most: Number(values.least), idleShare: 0.3 });
program.dispose();
