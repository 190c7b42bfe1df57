// Opens the live event stream of a dashboard over HTTP or HTTPS and passes its events on, until it ends. One attempt: who wants another one asks
// again. The reason of a failure is one line for people.

import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Scheduler } from '../../model/environment.ts';
import type { BasicCredentials } from '../dashboard/dashboard-address.ts';
import { connectionFault, MAX_REFUSAL_BYTES, refusalText } from '../dashboard/dashboard-faults.ts';
import { basicAuthorization } from '../dashboard/dashboard-request.ts';
import { EventStreamParser, type StreamEvent } from './event-stream.ts';

/** The broker sends an event every second. After this silence it counts as gone. */
export const MAX_SILENCE_MS = 5_000;

export type EventRequest = {
  readonly url: URL;
  readonly credentials?: BasicCredentials | undefined;
  readonly scheduler: Scheduler;
};

export type StreamEnd = {
  readonly reason: string;
  /** The broker refuses these credentials, or asks for some: another attempt does not help. */
  readonly asksForCredentials: boolean;
};

export type EventReceiver = {
  readonly onEvent: (event: StreamEvent) => void;
  /** Called once, and last. Not called after `close`. */
  readonly onEnd: (end: StreamEnd) => void;
};

/** Starts the request. The result closes the connection. `onEvent` may throw: the connection ends then, with its message as the reason. */
export function openEvents(
  { url, credentials, scheduler }: EventRequest,
  receiver: EventReceiver,
): () => void {
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  const headers = {
    accept: 'text/event-stream',
    ...(credentials && { authorization: basicAuthorization(credentials) }),
  };
  // Without an agent: the connection ends with the stream.
  const outgoing = send(url, { headers, agent: false });
  let cancelTimer: () => void = () => undefined;
  let isOver = false;
  const close = () => {
    isOver = true;
    cancelTimer();
    outgoing.destroy();
  };
  const end = (reason: string, asksForCredentials = false) => {
    if (isOver) return;
    close();
    receiver.onEnd({ reason, asksForCredentials });
  };
  const expectMore = () => {
    cancelTimer();
    const silence = `the broker has sent nothing for ${MAX_SILENCE_MS / 1000} s`;
    cancelTimer = scheduler.after(MAX_SILENCE_MS, () => end(silence));
  };
  expectMore();
  outgoing.on('error', (error: NodeJS.ErrnoException) => end(connectionFault(error, url)));
  outgoing.on('response', (response) => {
    response.on('error', () => end('the connection was lost'));
    response.on('close', () => end('the broker closed the connection'));
    if (!isEventStream(response)) return void readRefusal(response, end);
    const parser = new EventStreamParser();
    response.on('data', (chunk: Buffer) => {
      expectMore();
      try {
        for (const event of parser.push(chunk)) if (!isOver) receiver.onEvent(event);
      } catch (error) {
        end(error instanceof Error ? error.message : String(error));
      }
    });
  });
  outgoing.end();
  return close;
}

function isEventStream({ statusCode, headers }: IncomingMessage): boolean {
  return statusCode === 200 && /^text\/event-stream\b/.test(headers['content-type'] ?? '');
}

function readRefusal(
  response: IncomingMessage,
  end: (reason: string, asksForCredentials?: boolean) => void,
): void {
  const { statusCode = 0 } = response;
  if (statusCode === 401) return end('the dashboard asks for a name and a password', true);
  const chunks: Buffer[] = [];
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_REFUSAL_BYTES) return end(refusal(statusCode, ''));
    chunks.push(chunk);
  });
  response.on('end', () => end(refusal(statusCode, Buffer.concat(chunks).toString())));
}

function refusal(statusCode: number, body: string): string {
  if (statusCode === 200) return 'the answer is no event stream: is this the address of a dashboard?';
  return refusalText(statusCode, body);
}
