// Answers the requests of a connection one after the other. Node hands over all that a client has sent in one piece, a thousand of them, and keeps each
// answer until those before it have been read: what a client does not read would be bounded by nothing. Part of the limits of listen.ts.

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/** The same handler, called for a request when the answer before it on its connection has been taken; never for one whose connection ends before. */
export function oneAtATime(handler: RequestListener): RequestListener {
  /** The last answer that was asked for on a connection, until it has been taken. */
  const last = new WeakMap<IncomingMessage['socket'], ServerResponse>();
  return (request, response) => {
    const { socket } = request;
    const before = last.get(socket);
    last.set(socket, response);
    response.once('close', () => {
      if (last.get(socket) === response) last.delete(socket);
    });
    if (before === undefined) return handler(request, response);
    before.once('close', () => {
      if (!socket.destroyed) handler(request, response);
    });
  };
}
