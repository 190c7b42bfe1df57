// Answers the requests of a connection one after the other. Node hands over all that a client has sent in one piece, a thousand of them, and keeps each
// answer until those before it have been read: what a client does not read would be bounded by nothing. Part of the limits of listen.ts.

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/** A client that sends more requests than this behind one whose answer it has not taken is disconnected. No browser sends a second one. */
export const MAX_WAITING_REQUESTS = 32;

/** What a connection has asked for and not taken. */
type Unanswered = { count: number; last: ServerResponse };

/** The same handler, called for a request when the answer before it on its connection has been taken; never for one whose connection ends before. */
export function oneAtATime(handler: RequestListener): RequestListener {
  const connections = new WeakMap<IncomingMessage['socket'], Unanswered>();
  return (request, response) => {
    const { socket } = request;
    // The rest of a piece whose connection was ended.
    if (socket.destroyed) return;
    const unanswered = connections.get(socket) ?? { count: 0, last: response };
    connections.set(socket, unanswered);
    if (unanswered.count > MAX_WAITING_REQUESTS) return void socket.destroy();
    const before = unanswered.count === 0 ? undefined : unanswered.last;
    unanswered.count += 1;
    unanswered.last = response;
    response.once('close', () => {
      unanswered.count -= 1;
    });
    if (before === undefined) return handler(request, response);
    before.once('close', () => {
      if (!socket.destroyed) handler(request, response);
    });
  };
}
