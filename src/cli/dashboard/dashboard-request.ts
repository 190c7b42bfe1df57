// One request to the API of a dashboard over HTTP or HTTPS, and its whole answer. A failure is a DashboardError whose message is for people. Reads
// no flags.

import { Agent, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps, Agent as SecureAgent } from 'node:https';
import { escaped } from '../top/shown-text.ts';
import type { BasicCredentials, DashboardAddress } from './dashboard-address.ts';
import { connectionFault, problemDetail, refusalText } from './dashboard-faults.ts';

/** How long a connection may be without a byte. */
const MAX_SILENCE_MS = 10_000;
/** A list of messages is about 1 MiB; this is the limit for whatever else answers. */
const MAX_ANSWER_BYTES = 64 * 1_048_576;

/** The dashboard did not do what was asked. */
export class DashboardError extends Error {
  /** Undefined: there was no answer. */
  readonly statusCode: number | undefined;

  constructor(message: string, statusCode?: number) {
    super(message);
    this.name = 'DashboardError';
    this.statusCode = statusCode;
  }
}

/** Resolves with the answer, which is one JSON text, or empty. */
export type SendDashboardRequest = (method: string, path: string) => Promise<string>;

/**
 * A function that sends a request for a path below the address, which it expects escaped, and resolves with the JSON text of the answer: its values would not
 * have the numbers of the text. Its connection is kept for the next request until `close`.
 */
export function dashboardRequests({ url, credentials }: DashboardAddress): {
  /** @throws DashboardError */
  readonly send: SendDashboardRequest;
  readonly close: () => void;
} {
  const isSecure = url.protocol === 'https:';
  const options = { keepAlive: true, maxSockets: 1 };
  const agent = isSecure ? new SecureAgent(options) : new Agent(options);
  const sendRequest = isSecure ? requestHttps : requestHttp;
  const headers = credentials === undefined ? {} : { authorization: basicAuthorization(credentials) };
  const send: SendDashboardRequest = (method, path) =>
    new Promise((resolve, reject) => {
      const fail = (reason: string) => reject(new DashboardError(escaped(reason)));
      const outgoing = sendRequest(new URL(path, url), { method, headers, agent, timeout: MAX_SILENCE_MS });
      outgoing.on('timeout', () =>
        outgoing.destroy(new Error(`the dashboard has sent nothing for ${MAX_SILENCE_MS / 1000} s`)),
      );
      outgoing.on('error', (error: NodeJS.ErrnoException) => fail(connectionFault(error, url)));
      outgoing.on('response', (response) => {
        readAnswer(response)
          .then((body) => resolve(answerText(response.statusCode ?? 0, body)))
          .catch((error: Error) => (error instanceof DashboardError ? reject(error) : fail(error.message)));
      });
      outgoing.end();
    });
  return { send, close: () => agent.destroy() };
}

export function basicAuthorization({ username, password }: BasicCredentials): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

async function readAnswer(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES)
      throw new Error('the answer is too long: is this the address of a dashboard?');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function answerText(statusCode: number, body: string): string {
  if (statusCode === 204) return '';
  if (statusCode !== 200) {
    const reason = problemDetail(body) ?? refusalText(statusCode, body);
    throw new DashboardError(escaped(reason), statusCode);
  }
  try {
    JSON.parse(body);
    return body;
  } catch {
    throw new DashboardError('the answer is not JSON: is this the address of a dashboard?');
  }
}
