// A built broker with its dashboard, as a process of its own, and a client of it. The page is part of the build, so it must be built first.

import { fileURLToPath } from 'node:url';
import { type Client, connect } from '../../client/index.ts';
import { type BrokerProcess, startProcess } from '../crash/broker-process.ts';

const command = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

export type DashboardBroker = Pick<BrokerProcess, 'kill' | 'stop' | 'port'> & {
  /** Ends with a slash. */
  readonly url: string;
  connect(): Promise<Client>;
};

/** On free ports, or on those of an earlier one. @throws Error with its output when it does not start */
export async function startDashboardBroker(
  ports: { readonly tcp: number; readonly dashboard: number } = { tcp: 0, dashboard: 0 },
): Promise<DashboardBroker> {
  const listening = [
    '--port',
    `${ports.tcp}`,
    '--dashboard-port',
    `${ports.dashboard}`,
    '--health-port',
    '0',
  ];
  const rest = ['--rate-limit', 'off', '--print-ready'];
  const broker = await startProcess([command, 'serve', ...listening, ...rest]);
  const { port, dashboardUrl } = broker;
  if (dashboardUrl === undefined) throw new Error('The broker has no dashboard.');
  return {
    port,
    url: dashboardUrl,
    kill: () => broker.kill(),
    stop: () => broker.stop(),
    connect: () => connect({ host: '127.0.0.1', port, reconnect: false }),
  };
}
