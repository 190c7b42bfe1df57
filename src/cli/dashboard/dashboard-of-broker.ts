// The dashboard of the broker that a command is for. A command that changes something there must not guess: when the broker is not the default one, its
// dashboard must be given too.

import { UsageError } from '../arguments.ts';
import { type BrokerAddress, isDefaultAddress, readAddressCredentials } from '../broker-address.ts';
import { type CommandContext, ExitCode } from '../command.ts';
import {
  basicCredentials,
  DASHBOARD_VARIABLE,
  type DashboardAddress,
  DEFAULT_DASHBOARD_URL,
  givenDashboardUrl,
} from './dashboard-address.ts';
import { DashboardApi } from './dashboard-api.ts';
import { DashboardError, dashboardRequests } from './dashboard-request.ts';

/** @throws UsageError */
export async function dashboardOf(
  address: BrokerAddress,
  context: CommandContext,
): Promise<DashboardAddress> {
  const url = givenDashboardUrl(address.given, context);
  if (url === undefined && !isDefaultAddress(address)) {
    throw new UsageError(
      `--dashboard-url is missing: the broker is at ${address.host}:${address.port}, but where its dashboard is nobody says; ` +
        `${DASHBOARD_VARIABLE} may say it too`,
    );
  }
  if (url !== undefined && isAddressAlone(address.given)) {
    throw new UsageError(
      `--dashboard-url is missing: the command line names the broker at ${address.host}:${address.port}, but only ` +
        `${DASHBOARD_VARIABLE} a dashboard, maybe that of another broker; if it is the one of this broker, say --dashboard-url ${url.href}` +
        // Unset, the variable leaves only the default dashboard, which is that of the default broker.
        (isDefaultAddress(address)
          ? `, and if ${DEFAULT_DASHBOARD_URL} is, unset ${DASHBOARD_VARIABLE}`
          : ''),
    );
  }
  const credentials = basicCredentials(await readAddressCredentials(address, context));
  return { url: url ?? new URL(DEFAULT_DASHBOARD_URL), credentials };
}

/** Whether the command line says where the broker is, but not where its dashboard is. */
function isAddressAlone({ texts }: BrokerAddress['given']): boolean {
  return ['url', 'host', 'port'].some((flag) => texts.has(flag)) && !texts.has('dashboard-url');
}

/** Runs `use` with the API of the dashboard; a failure becomes a message on stderr and exit code 1. */
export async function withDashboard(
  address: DashboardAddress,
  context: CommandContext,
  use: (api: DashboardApi) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { send, close } = dashboardRequests(address);
  try {
    return await use(new DashboardApi(send));
  } catch (error) {
    if (!(error instanceof DashboardError)) throw error;
    for (const line of explainDashboardFailure(error, address)) context.stderr.write(`truemq: ${line}\n`);
    return ExitCode.Failed;
  } finally {
    close();
  }
}

/** What happened, and what to do: one line each. */
function explainDashboardFailure(
  { message, statusCode }: DashboardError,
  { url, credentials }: DashboardAddress,
): readonly string[] {
  if (statusCode === undefined) {
    return [
      `no answer from the dashboard at ${url.href}: ${message}`,
      '  this goes through the dashboard of the broker, which must be on: truemq serve --dashboard on',
      '  somewhere else? --dashboard-url says where',
    ];
  }
  if (statusCode === 404)
    return [message, `  the dashboard is the one at ${url.href}; --dashboard-url names another one`];
  if (statusCode !== 401) return [message];
  if (credentials !== undefined) return [`the dashboard at ${url.href} refuses this name or password`];
  return [
    `the dashboard at ${url.href} asks for a name and a password`,
    '  --username with TRUEMQ_PASSWORD or --password-file says who asks',
  ];
}
