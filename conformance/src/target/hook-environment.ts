// The environment variables of a hook: its name, the addresses of the broker, the data directory, and the whole neutral configuration as
// the JSON line that an adapter gets. The names start with CONFORMANCE_, so that no broker reads them as its own settings. Pure. See
// docs/targets.md.
import type { ListenAddress, NeutralConfiguration } from '../configuration.ts';
import type { Endpoints } from './target-file.ts';

export function hookEnvironment(
  hook: string,
  configuration: NeutralConfiguration,
): Readonly<Record<string, string>> {
  return {
    CONFORMANCE_HOOK: hook,
    ...addressVariables('TCP', configuration.tcp),
    ...addressVariables('HEALTH', configuration.health),
    ...addressVariables('DASHBOARD', configuration.dashboard),
    CONFORMANCE_DATA_DIRECTORY: configuration.dataDirectory,
    CONFORMANCE_CONFIGURATION: JSON.stringify(configuration),
  };
}

/** The addresses in the target file. A server that the file does not name gets port 0: it may listen anywhere. */
export function listenAddresses(
  endpoints: Endpoints,
): Pick<NeutralConfiguration, 'tcp' | 'health' | 'dashboard'> {
  return {
    tcp: { host: endpoints.tcp.host, port: endpoints.tcp.port },
    health: addressOf(endpoints.health?.url),
    dashboard: addressOf(endpoints.dashboard?.url),
  };
}

function addressVariables(name: string, { host, port }: ListenAddress): Readonly<Record<string, string>> {
  return { [`CONFORMANCE_${name}_HOST`]: host, [`CONFORMANCE_${name}_PORT`]: String(port) };
}

function addressOf(url: string | undefined): ListenAddress {
  if (url === undefined) return { host: '127.0.0.1', port: 0 };
  const { hostname, port, protocol } = new URL(url);
  const usual = protocol === 'https:' ? 443 : 80;
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? usual : Number(port) };
}
