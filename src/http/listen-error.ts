// Why a server could not listen, in one line for people. Shared by the HTTP servers and, in the composition root, by the TCP listener, so
// that the messages are the same. Pure. Implements CONFIG-010.

export type ListenAddress = { readonly host: string; readonly port: number };

const PORT_IN_USE = 'the port is in use';

/** The server could not listen on its configured address; the message is one line. */
export class ListenError extends Error {
  readonly address: ListenAddress;
  readonly reason: string;

  constructor({ host, port }: ListenAddress, reason: string) {
    super(`cannot listen on ${formatAddress({ host, port })}: ${reason}`);
    this.name = 'ListenError';
    this.address = { host, port };
    this.reason = reason;
  }

  get isPortInUse(): boolean {
    return this.reason === PORT_IN_USE;
  }

  /** The same with the settings that name the address, for those who can change them. */
  setBy(settings: string): ListenError {
    return new ListenError(this.address, `${this.reason} (set by ${settings})`);
  }
}

/** `127.0.0.1:2926`, `[::1]:2926`. */
export function formatAddress({ host, port }: ListenAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** The reason of a system error, by its code; undefined if the code has none. */
export function listenFailureReason(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined;
  switch (error.code) {
    case 'EADDRINUSE':
      return PORT_IN_USE;
    case 'EACCES':
      return 'this user may not use the port';
    case 'EADDRNOTAVAIL':
      return 'this machine has no such address';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'the host name is unknown';
    default:
      return error.code;
  }
}
