// An adapter that starts the reference broker behind the proxy, to try a planted fault by hand. `none` plants no fault:
//   truemq-conformance run --target T.yaml, with the lifecycle command
//   node --import tsx conformance/selftest/proxy/adapter.ts NAME [--at N] [--seed N] [--answer COMMAND] [-- BROKER'S ADAPTER ..]
// NAME is one of faults.ts, N its rate. The reference broker must be built.
import { spawn } from 'node:child_process';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { Command, type CommandName } from '../../src/wire/command.ts';
import { faults, isFaultName, makeFault, usualRate } from './faults.ts';
import type { ProxyFault } from './passage.ts';
import { startProxy } from './proxy.ts';

type Address = { readonly host: string; readonly port: number };
type Request = { readonly tcp: Address };
type Answer = { readonly ready: boolean; readonly tcp: Address };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { at: { type: 'string' }, seed: { type: 'string', default: '0' }, answer: { type: 'string' } },
});
const [name = 'none', ...given] = positionals;
const [program = '', ...args] = given.length > 0 ? given : [process.execPath, 'dist/cli/main.js', 'adapter'];
const broker = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });

createInterface({ input: process.stdin })
  .once('line', (line) => void serve(JSON.parse(line) as Request))
  .once('close', () => broker.stdin.end());
process.on('SIGTERM', () => broker.kill('SIGTERM'));
broker.on('exit', (code, signal) => process.exit(signal === null ? (code ?? 1) : 1));

async function serve(request: Request): Promise<void> {
  broker.stdin.write(`${JSON.stringify({ ...request, tcp: { ...request.tcp, port: 0 } })}\n`);
  const answer = await firstAnswer();
  if (answer.ready) {
    const server = await startProxy(request.tcp, answer.tcp, faultOf(name));
    const { port } = server.address() as AddressInfo;
    process.stdout.write(`${JSON.stringify({ ...answer, tcp: { ...answer.tcp, port } })}\n`);
  } else process.stdout.write(`${JSON.stringify(answer)}\n`);
}

function firstAnswer(): Promise<Answer> {
  return new Promise((resolve) => {
    createInterface({ input: broker.stdout }).once('line', (line) => resolve(JSON.parse(line) as Answer));
  });
}

function faultOf(wanted: string): ProxyFault {
  if (wanted === 'none') return {};
  if (!isFaultName(wanted)) throw new Error(`${wanted} is not one of: ${Object.keys(faults).join(', ')}`);
  const at = values.at === undefined ? usualRate(wanted) : Number(values.at);
  return makeFault({ name: wanted, at, seed: Number(values.seed), answer: answerOf(values.answer) });
}

function answerOf(wanted: string | undefined): CommandName | undefined {
  if (wanted === undefined || isCommandName(wanted)) return wanted;
  throw new Error(`${wanted} is not a command`);
}

function isCommandName(name: string): name is CommandName {
  return Object.hasOwn(Command, name);
}
