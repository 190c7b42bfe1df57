// Plants every fault of the answers in the answers of each command, and runs all checks against each:
//   node --import tsx conformance/selftest/proxy/answers.ts [--fault NAME] [--answer COMMAND] [--at N,N] [--jobs N] [--scale N] [--least N]
// A broker's fault is never an error of the runner, so no check may end with `error` and the exit code must not be 4 or 5. Prints a table
// row for each run, and below it every error. Takes long and is no part of `npm test`. The reference broker must be built.
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
  const more = { profiles: ['full'], jobs: Number(values.jobs), timeoutScale: Number(values.scale) } as const;
  const { results, verdict } = await runProxied(program, fault, more);
  const errors = results.filter(({ outcome, starved }) => outcome === 'error' && starved !== true);
  const starvedCount = results.filter(({ starved }) => starved === true).length;
  const { exitCode, reason } = verdict;
  process.stdout.write(
    `| ${where} | ${results.length} | ${starvedCount} | ${errors.length} | ${exitCode} |\n`,
  );
  const isUnexplained = exitCode === exitCodes.runner && errors.length === 0 && starvedCount === 0;
  const found = errors.map((result) => `${result.id}: ${result.reason}`);
  if (exitCode === exitCodes.target || isUnexplained) found.push(`exit code ${exitCode}: ${reason}`);
  for (const line of found) process.stdout.write(`FAIL ${where}: ${line}\n`);
  if (found.length > 0) process.exitCode = 1;
}

process.stdout.write('| fault | results | starved | errors | exit code |\n|---|---|---|---|---|\n');
await workOff(planted, tryFault, { least: Number(values.least), most: Number(values.least), idleShare: 0.3 });
program.dispose();
