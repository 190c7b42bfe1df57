// `run --keep-alive`: after the verdict the started brokers keep running until the runner is stopped, so that they can be examined. An
// adapter ends with its runner, so no broker can be left running by mistake.
import type { Terminal } from '../cli/terminal.ts';
import type { RunningBroker } from '../engine/broker-pool.ts';
import type { RunReport } from '../engine/suite.ts';

/** Prints the addresses of the brokers and waits for the signal; returns immediately if there is no broker or the signal came before. */
export function brokerKeeper(
  terminal: Terminal,
  signal: AbortSignal,
): (report: RunReport, running: readonly RunningBroker[]) => Promise<void> {
  return async (_report, running) => {
    if (signal.aborted) return;
    if (running.length === 0) {
      terminal.err('--keep-alive: no broker is running any more.');
      return;
    }
    for (const line of [...running.flatMap(brokerLines), ...stopLines()]) terminal.err(line);
    await aborted(signal);
    terminal.err('The brokers are stopped.');
  };
}

function brokerLines({ endpoints, processId, request }: RunningBroker): readonly string[] {
  const { tcp, health, dashboard } = endpoints;
  const configured = Object.keys(request).length === 0 ? 'its defaults' : JSON.stringify(request);
  const http = [health?.url, dashboard?.url].filter((url) => url !== undefined);
  return [
    '',
    `Still running: ${processId === undefined ? 'a broker' : `process ${processId}`}, with ${configured}`,
    `  ${[`tcp ${tcp.host}:${tcp.port}`, ...http].join('  ')}`,
  ];
}

function stopLines(): readonly string[] {
  return ['', `Ctrl-C ends the runner and these brokers; from another terminal: kill ${process.pid}`];
}

/** Resolves when the signal comes; the timer keeps the process alive meanwhile. */
function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setInterval(() => {}, 60_000);
    const end = (): void => {
      clearInterval(timer);
      resolve();
    };
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
  });
}
