// Why a request to a dashboard failed, in one line for people: faults of the connection, and refusals in an answer. Pure.

/** What is read of an answer that refuses. */
export const MAX_REFUSAL_BYTES = 16_384;

export function connectionFault(error: NodeJS.ErrnoException, { host, hostname, protocol }: URL): string {
  switch (error.code) {
    case 'ECONNREFUSED':
      return `nobody listens on ${host}`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `there is no host ${hostname}`;
    case 'ECONNRESET':
      return 'the connection was lost';
    case 'EPROTO':
      return protocol === 'https:' ? `${host} does not speak HTTPS` : error.message;
    case 'HPE_INVALID_CONSTANT':
      return `no HTTP server answers on ${host}; the dashboard has a port of its own, beside that of the broker`;
    default:
      return error.message || String(error.code);
  }
}

/** The reason of an answer whose status says that the dashboard refuses. */
export function refusalText(statusCode: number, body: string): string {
  const detail = problemDetail(body);
  return `the answer has status ${statusCode}${detail === undefined ? ': is this the address of a dashboard?' : `: ${detail}`}`;
}

/** The text of problem details (RFC 9457); undefined: the body has none. */
export function problemDetail(body: string): string | undefined {
  try {
    const { detail, title } = JSON.parse(body) as { readonly detail?: unknown; readonly title?: unknown };
    return [detail, title].find((text) => typeof text === 'string') as string | undefined;
  } catch {
    return undefined;
  }
}
