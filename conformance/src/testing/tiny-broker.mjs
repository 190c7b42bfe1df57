// The smallest broker that lets the engine be tested without any real one: an adapter that answers Connect, Ping and Publish and
// forgets everything. Started by a hook it takes its configuration from the environment, and writes its process id into a file there.
// The environment makes it misbehave: TINY_DIE_ON=<command number> ends it at that command, TINY_DIE_IDLE when its last
// connection has gone, TINY_REFUSE=<text> refuses to start, TINY_NOISE prints to standard output first, TINY_UNSUPPORTED lists
// settings, TINY_CAPABILITIES is announced in ConnectAck, TINY_PID=<file> adds its process id to the file, TINY_CHILD=<file>
// starts a child that does nothing and ignores signals, its id in the file, TINY_IGNORE=<count> ignores so many Connects that contain the
// word ignored, TINY_RATE=<count>/<ms> closes each connection at once that is one too many in so many milliseconds.
import { spawn } from 'node:child_process';
import { appendFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';

const { TINY_DIE_ON, TINY_DIE_IDLE, TINY_REFUSE, TINY_NOISE, TINY_UNSUPPORTED, TINY_CHILD, TINY_PID } =
  process.env;
const { CONFORMANCE_CONFIGURATION, CONFORMANCE_DATA_DIRECTORY } = process.env;
const { TINY_CAPABILITIES, TINY_IGNORE, TINY_RATE } = process.env;
const rate = TINY_RATE?.split('/').map(Number);
const acceptedAt = [];
const toIgnore = { count: Number(TINY_IGNORE ?? 0) };
const openSockets = new Set();
const answers = new Map([
  [0, 1],
  [10, 11],
  [20, 21],
]);

process.once('SIGTERM', () => process.exit(0));
if (CONFORMANCE_CONFIGURATION === undefined) {
  const lines = createInterface({ input: process.stdin });
  lines.once('line', (line) => void start(JSON.parse(line)));
  lines.once('close', () => process.exit(0));
} else {
  writeFileSync(`${CONFORMANCE_DATA_DIRECTORY}/pid`, String(process.pid));
  void start(JSON.parse(CONFORMANCE_CONFIGURATION));
}

async function start({ tcp: tcpAddress, health: healthAddress }) {
  if (TINY_PID !== undefined) appendFileSync(TINY_PID, `${process.pid}\n`);
  if (TINY_CHILD !== undefined) startChild(TINY_CHILD);
  if (TINY_NOISE !== undefined) console.log('starting ..');
  if (TINY_REFUSE !== undefined) return say({ protocol: 1, ready: false, error: TINY_REFUSE });
  const tcp = await listen(createServer(serve), tcpAddress.port);
  const healthServer = createHttpServer((_request, response) => response.end('{"status":"healthy"}'));
  const health = await listen(healthServer, healthAddress.port);
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

function startChild(file) {
  const idle = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);";
  const child = spawn(process.execPath, ['-e', idle], { stdio: 'ignore' });
  writeFileSync(file, String(child.pid));
}

function serve(socket) {
  if (isOneTooMany()) return socket.destroy();
  openSockets.add(socket);
  socket.on('close', () => {
    openSockets.delete(socket);
    if (TINY_DIE_IDLE !== undefined && openSockets.size === 0) process.exit(9);
  });
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

function isOneTooMany() {
  if (rate === undefined) return false;
  const [count, windowMs] = rate;
  while (performance.now() - acceptedAt[0] >= windowMs) acceptedAt.shift();
  if (acceptedAt.length >= count) return true;
  acceptedAt.push(performance.now());
  return false;
}

function handle(socket, body) {
  const command = body[1];
  if (String(command) === TINY_DIE_ON) process.exit(7);
  if (command === 2) return socket.end();
  if (command === 0 && toIgnore.count > 0 && body.includes('ignored')) {
    toIgnore.count -= 1;
    return;
  }
  const answer = answers.get(command);
  if (answer === undefined) return;
  const id = body.subarray(2, 4 + body.readUInt16BE(2));
  const answerBody = Buffer.concat([Buffer.from([1, answer]), id, Buffer.alloc(6), headersOf(answer)]);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(answerBody.length);
  socket.write(Buffer.concat([head, answerBody]));
}

function headersOf(answer) {
  if (answer !== 1 || TINY_CAPABILITIES === undefined) return Buffer.alloc(2);
  return Buffer.concat([Buffer.from([0, 1]), text16('capabilities'), text16(TINY_CAPABILITIES)]);
}

function text16(text) {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 255]), bytes]);
}

function listen(server, port) {
  return new Promise((resolve) => {
    server.listen(port, '127.0.0.1', () => resolve(server.address().port));
  });
}

function say(value) {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
