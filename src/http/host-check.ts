// Which Host headers are answered: IP addresses, localhost and configured names. A web page can point a name of its own at
// 127.0.0.1 and would then read the broker through the visitor's browser (DNS rebinding); it cannot make the browser send another
// Host. Pure. Implements HTTP-002.

const IPV4 = /^\d{1,3}(\.\d{1,3}){3}$/;
/** Characters that would let a URL parser see something else than a host and a port. */
const NOT_A_HOST = /[/?#@\\\s]/;

/**
 * Whether a request with this Host header is to be answered. No header at all is fine: browsers always send one, and what sends
 * none (HTTP/1.0 probes of load balancers) cannot be rebound.
 */
export function isHostAllowed(hostHeader: string | null, allowedHosts: readonly string[]): boolean {
  if (hostHeader === null) return true;
  const name = hostName(hostHeader);
  if (name === undefined) return false;
  if (name === 'localhost' || IPV4.test(name) || name.startsWith('[')) return true;
  return allowedHosts.some((allowed) => allowed.toLowerCase() === name);
}

/** Whether a Host header names a host that a parser of URLs takes: not so with port 99999. */
export function isReadableHost(hostHeader: string): boolean {
  return hostName(hostHeader) !== undefined;
}

/** The host without port, in lower case and without a closing dot; undefined when the header is malformed. */
function hostName(header: string): string | undefined {
  if (header === '' || NOT_A_HOST.test(header)) return undefined;
  try {
    return new URL(`http://${header}/`).hostname.replace(/\.$/, '');
  } catch {
    return undefined;
  }
}
