// Why the dashboard does not do what a request asks: problem details for what the broker refuses, and the checks of a request that is to change
// something. Implements DASH-017, DASH-023, DASH-025, DASH-034, DASH-038, DASH-040 and HTTP-001.

import type { BasicVerdict } from '../../auth/basic-access.ts';
import type { RequeueOutcome } from '../../gateway/operator.ts';
import type { RequestRefused } from '../../gateway/operator-requests.ts';
import { notFound, type ProblemDetails, problemResponse } from '../problem.ts';

/** What a request with a body may send at most; no request here needs one. */
const MAX_BODY_BYTES = 16_384;
/** A path names at most a queue and a message, of which neither is longer than this when it is escaped. */
const MAX_PATH_LENGTH = 8_192;

type RequeueRefusal = Exclude<RequeueOutcome, 'requeued'>;

export function emptyName(): Response {
  const detail = 'The path has an empty name in it.';
  return problemResponse({ status: 400, title: 'Bad Request', detail });
}

/** A change whose path ends with a slash: it may mean the message with an empty id, and would change the whole queue. */
export function emptyLastName(): Response {
  const detail = 'The path ends with an empty name, so nothing was changed. Leave the last slash out.';
  return problemResponse({ status: 400, title: 'Bad Request', detail });
}

/** `source`: the queue that the message was to come from; undefined: any. */
export function messageNotFound(source: string | undefined): Response {
  return notFound(`The queue has no message with this id${thatComesFrom(source)}.`);
}

/** There was no message to remove. `source`: the queue that it was to come from; undefined: any. */
export function noMessageWaits(source: string | undefined): Response {
  return notFound(`No message with this id${thatComesFrom(source)} waits in the queue.`);
}

function thatComesFrom(source: string | undefined): string {
  return source === undefined ? '' : ` that comes from queue ${source}`;
}

/** Why a dead letter was not requeued. `source`: the queue that it was to come from; undefined: any. */
export function requeueRefused(reason: RequeueRefusal, source: string | undefined): Response {
  if (reason === 'messageNotFound') return messageNotFound(source);
  return problemResponse({ status: 409, title: 'Conflict', detail: requeueConflicts[reason] });
}

const requeueConflicts: Readonly<Record<Exclude<RequeueRefusal, 'messageNotFound'>, string>> = {
  notDeadLetter: 'The message is no dead letter, so it has no queue to go back to.',
  inFlight: 'The message is in flight to a subscriber.',
  sourceNotFound: 'The queue that the message comes from does not exist any more.',
  sourceFull: 'The queue that the message comes from is full.',
  tooLarge:
    'The message would not fit into a frame that names the dead letter queue of the queue that it comes from.',
  idInSource: 'The queue that the message comes from has another message with this id.',
};

/** The answer to a request whose question the broker has refused, or could not answer. Rethrows what is a fault of our own. */
export function brokerRefused(error: unknown): Response {
  if (isRefusal(error) && error.code === 'QUEUE_NOT_FOUND') return notFound(error.message);
  if (isRefusal(error) || (error instanceof Error && error.name === 'OutOfService')) {
    return problemResponse({ status: 503, title: 'Service Unavailable', detail: error.message });
  }
  throw error;
}

function isRefusal(error: unknown): error is RequestRefused {
  return error instanceof Error && error.name === 'RequestRefused';
}

/** The answer to whoever may not use the dashboard; undefined: it may be used. */
export function accessRefused(verdict: BasicVerdict): Response | undefined {
  if (verdict === 'allowed') return undefined;
  const { headers, ...problem } = accessProblems[verdict];
  return problemResponse({ ...problem, ...(headers === undefined ? {} : { headers }) });
}

const unauthorized = {
  status: 401,
  title: 'Unauthorized',
  headers: { 'www-authenticate': 'Basic realm="TrueMQ", charset="UTF-8"' },
};

const accessProblems: Readonly<Record<Exclude<BasicVerdict, 'allowed'>, ProblemDetails>> = {
  missing: { ...unauthorized, detail: 'This dashboard asks for the name and password of a superuser.' },
  wrong: { ...unauthorized, detail: 'The user name or the password is wrong.' },
  forbidden: { status: 403, title: 'Forbidden', detail: 'Only a superuser may use the dashboard.' },
  busy: {
    status: 429,
    title: 'Too Many Requests',
    detail: 'Too many passwords are being checked; try again later.',
    headers: { 'retry-after': '1' },
  },
  failed: { status: 503, title: 'Service Unavailable', detail: 'The broker cannot check passwords now.' },
};

/** Why a request is not looked at; undefined: it is. */
export function requestRefused(request: Request): Response | undefined {
  if (new URL(request.url).pathname.length > MAX_PATH_LENGTH) {
    const detail = `The path has more than ${MAX_PATH_LENGTH} characters.`;
    return problemResponse({ status: 414, title: 'URI Too Long', detail });
  }
  if (isFromAnotherSite(request)) {
    const detail =
      'A page of another site must not change anything here. Behind a proxy: it must pass on the Host header of the browser.';
    return problemResponse({ status: 403, title: 'Forbidden', detail });
  }
  if (hasLargeBody(request)) {
    const detail = `No request here needs a body; one of more than ${MAX_BODY_BYTES} bytes is not read.`;
    return problemResponse({
      status: 413,
      title: 'Content Too Large',
      detail,
      headers: { connection: 'close' },
    });
  }
  return undefined;
}

/** A browser sends the Origin of the page with every request that may change something. */
function isFromAnotherSite({ method, headers }: Request): boolean {
  const origin = headers.get('origin');
  if (origin === null || method === 'GET' || method === 'HEAD') return false;
  return !URL.canParse(origin) || new URL(origin).host !== headers.get('host');
}

function hasLargeBody({ headers }: Request): boolean {
  return headers.has('transfer-encoding') || Number(headers.get('content-length') ?? 0) > MAX_BODY_BYTES;
}
