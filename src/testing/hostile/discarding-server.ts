// A process that takes in whatever clients send and answers nothing: `discarding-server.ts`. Prints its port. An attack on it shows what the
// hostile client alone costs a machine on which it shares the processors with the broker.

import { createServer } from 'node:net';

const server = createServer((socket) => {
  socket.on('error', () => undefined);
  socket.resume();
});
server.listen({ port: 0, host: '127.0.0.1' }, () => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The listener has no port.');
  console.log(address.port);
});
