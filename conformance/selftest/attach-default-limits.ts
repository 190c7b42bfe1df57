// Tests that the runner can test a running broker with the default limits of the protocol (20 connections per minute and address, 1000
// messages per second): `node --import tsx conformance/selftest/attach-default-limits.ts [PROFILE ..]` starts the built reference broker with
// its defaults, attaches to it and runs profile core, or the named profiles. Takes six to seven minutes, because the runner waits for
// permitted connections, so `npm test` does not run it. Ends with the exit code of the run.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { ProfileName } from '../src/catalogue-words.ts';
import { runSuite } from '../src/engine/suite.ts';
import { loadSuiteData } from '../src/suite-data.ts';
import type { Endpoints, Target } from '../src/target/target-file.ts';
import { catalogue } from './phases.ts';
import { root } from './root.ts';

/** The default limits of the broker (LIMIT-019). */
const defaultLimits = {
  maxConnectionsPerIpPerWindow: 20,
  connectionWindowMs: 60_000,
  maxMessagesPerClientPerSecond: 1000,
} as const;

async function startedBroker(): Promise<{ readonly endpoints: Endpoints; readonly stop: () => void }> {
  const flags = ['serve', '--print-ready', '--port', '0', '--health-port', '0', '--dashboard-port', '0'];
  const broker = spawn(process.execPath, ['dist/cli/main.js', ...flags], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const stop = (): void => {
    broker.kill();
  };
  process.once('exit', stop);
  for await (const line of createInterface({ input: broker.stdout })) {
    const { tcp, ...http } = JSON.parse(line) as Endpoints;
    // The ready line says also that it is without TLS, which target files say by leaving it out.
    return { endpoints: { ...http, tcp: { host: tcp.host, port: tcp.port } }, stop };
  }
  throw new Error('the broker ended before it listened; is it built?');
}

const { endpoints, stop } = await startedBroker();
const target: Target = {
  schema: 1,
  name: 'TrueMQ, attached, with its default limits',
  lifecycle: { kind: 'attach' },
  endpoints,
  profiles: ['full'],
  capabilities: ['brotli', 'gzip', 'nack', 'maxInFlight', 'prometheus'],
  limits: defaultLimits,
};
const named = process.argv.slice(2) as ProfileName[];
const startedAt = performance.now();
const report = await runSuite(
  { catalogue: catalogue(), golden: loadSuiteData().golden },
  {
    target,
    targetPath: 'none: the script attaches to a broker of its own',
    profiles: named.length === 0 ? ['core'] : named,
    level: 'MAY',
    only: [],
    skip: [],
    seed: Math.floor(Math.random() * 2 ** 31),
    repeat: 1,
    jobs: 4,
    timeoutScale: 1,
    wireMode: 'whole',
    failFast: false,
    strict: false,
  },
  () => {},
);
stop();
for (const { id, outcome, reason, actual } of report.results) {
  if (outcome !== 'pass') process.stdout.write(`${outcome} ${id}: ${reason ?? ''} ${actual ?? ''}\n`);
}
const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
const { status, exitCode, reason } = report.verdict;
process.stdout.write(
  `${report.results.length} checks in ${seconds} s: ${status}, exit code ${exitCode} (${reason})\n`,
);
process.exitCode = exitCode;
