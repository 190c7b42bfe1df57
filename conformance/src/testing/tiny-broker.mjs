// The smallest broker that lets the engine be tested without any real one: an adapter that answers Connect, Ping and Publish and
// forgets everything. The environment makes it misbehave: TINY_DIE_ON=<command number> ends it at that command,
// TINY_REFUSE=<text> refuses to start, TINY_NOISE prints to standard output first, TINY_UNSUPPORTED lists settings.
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';

const { TINY_DIE_ON, TINY_REFUSE, TINY_NOISE, TINY_UNSUPPORTED } = process.env;
const answers = new Map([
  [0, 1],
  [10, 11],
  [20, 21],
]);

const lines = createInterface({ input: process.stdin });
lines.once('line', () => void start());
lines.once('close', () => process.exit(0));
process.once('SIGTERM', () => process.exit(0));

async function start() {
  if (TINY_NOISE !== undefined) console.log('starting ..');
  if (TINY_REFUSE !== undefined) return say({ protocol: 1, ready: false, error: TINY_REFUSE });
  const tcp = await listen(createServer(serve));
  const health = await listen(createHttpServer((_request, response) => response.end('{"status":"healthy"}')));
  console.error('tiny broker listens');
  say({
    protocol: 1,
    ready: true,
    broker: { name: 'tiny', version: '1' },
    tcp: { host: '127.0.0.1', port: tcp },
    health: { url: `http://127.0.0.1:${health}/health/` },
    unsupported: TINY_UNSUPPORTED?.split(',') ?? [],
  });
}

function serve(socket) {
  let bytes = Buffer.alloc(0);
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
    while (bytes.length >= 5 && bytes.length >= 5 + bytes.readUInt32BE(0)) {
      const end = 5 + bytes.readUInt32BE(0);
      handle(socket, bytes.subarray(5, end));
      bytes = bytes.subarray(end);
    }
  });
}

function handle(socket, body) {
  const command = body[1];
  if (String(command) === TINY_DIE_ON) process.exit(7);
  if (command === 2) return socket.end();
  const answer = answers.get(command);
  if (answer === undefined) return;
  const id = body.subarray(2, 4 + body.readUInt16BE(2));
  const answerBody = Buffer.concat([Buffer.from([1, answer]), id, Buffer.alloc(8)]);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(answerBody.length);
  socket.write(Buffer.concat([head, answerBody]));
}

function listen(server) {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(server.address().port));
  });
}

function say(value) {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
