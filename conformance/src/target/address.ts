// Parses addresses: `host:port`, `[::1]:2925`, `vibemq://host`, a host alone. Pure.
import { UsageError } from '../usage-error.ts';
import type { Endpoints } from './target-file.ts';

/** The protocol's own ports. */
export const defaultPorts = { tcp: 2925, health: 2926, dashboard: 12925 } as const;

/** Throws a UsageError. A port that is left out is the protocol's default. */
export function parseAddress(text: string): Endpoints['tcp'] {
  const bare = text.replace(/^(tcp|vibemq):\/\//, '').replace(/\/$/, '');
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:/\s@]+))(?::(\d+))?$/.exec(bare);
  const host = match?.[1] ?? match?.[2];
  const port = match?.[3] === undefined ? defaultPorts.tcp : Number(match[3]);
  if (host !== undefined && port >= 1 && port <= 65_535) return { host, port };
  throw new UsageError(`${text} came, allowed: an address such as 127.0.0.1:2925, [::1]:2925 or localhost`);
}

/** `http://host:port` on the same host, an IPv6 address in its brackets. */
export function urlAt(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Throws a UsageError. A missing `http://` is added. */
export function parseUrl(flag: string, text: string): string {
  const url = /^https?:\/\//.test(text) ? text : `http://${text}`;
  if (URL.canParse(url)) return url;
  throw new UsageError(`--${flag}: ${text} came, allowed: a URL such as http://127.0.0.1:2926`);
}
