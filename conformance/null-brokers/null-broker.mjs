// Brokers that do nothing right: an adapter whose one argument says how. No check of the suite may pass on any of them: one that does
// has shown nothing. Kinds: closes (at once), silent, echoes (every byte back), garbage (random bytes), http (every HTTP
// path answers 200 with {}, TCP silent). What the TCP port does, the HTTP ports do too, but for the last kind.
import { randomBytes } from 'node:crypto';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';

const behaviours = {
  closes: (socket) => socket.destroy(),
  silent: (socket) => socket.resume(),
  echoes: (socket) => socket.pipe(socket),
  garbage: (socket) => {
    const bytes = () => randomBytes(64);
    socket.write(bytes());
    socket.on('data', () => socket.write(bytes()));
  },
  http: (socket) => socket.resume(),
};

const kind = process.argv[2];
const behave = behaviours[kind];
if (behave === undefined)
  throw new Error(`null broker: ${kind} came, allowed: ${Object.keys(behaviours).join(', ')}`);

const lines = createInterface({ input: process.stdin });
lines.once('line', () => void answer());
lines.once('close', () => process.exit(0));
process.once('SIGTERM', () => process.exit(0));

async function answer() {
  const [tcp, health, dashboard] = await Promise.all([listen(raw()), listen(web()), listen(web())]);
  const url = (port) => ({ url: `http://127.0.0.1:${port}` });
  const ready = { protocol: 1, ready: true, broker: { name: `null broker: ${kind}` } };
  const endpoints = { tcp: { host: '127.0.0.1', port: tcp }, health: url(health), dashboard: url(dashboard) };
  process.stdout.write(`${JSON.stringify({ ...ready, ...endpoints })}\n`);
}

function raw() {
  return createServer((socket) => {
    socket.on('error', () => {});
    behave(socket);
  });
}

function web() {
  if (kind !== 'http') return raw();
  return createHttpServer((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end('{}');
  });
}

function listen(server) {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(server.address().port));
  });
}
