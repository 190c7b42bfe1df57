// An adapter with a small broker in it that makes one of the mistakes that adapters and brokers make when they are new; the doctor's test
// demands that each is named. The first argument is the mistake:
//   none, stdout-text, port-closed, little-endian, counts-itself, no-prefix, answer-id, flushes-later, flushes-at-close,
//   credentials, health-path, data-lost, ignores-stop, outlives-input, slow-answer, slow-start, answers-early
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';

const mistake = process.argv[2] ?? 'none';
const slowMs = 900;
const Answer = { connect: 1, error: 99, pong: 11, publish: 21, create: 40, delete: 41, info: 42 };

/** How many messages each queue has, and the file that keeps it; named by the configuration. */
const queues = new Map();
const kept = { file: '' };

const input = createInterface({ input: process.stdin });
input.once('line', (line) => void start(JSON.parse(line)));
input.once('close', () => {
  if (mistake !== 'outlives-input') process.exit(0);
});
process.on('SIGTERM', () => {
  if (mistake !== 'ignores-stop') process.exit(0);
});

async function start({ dataDirectory }) {
  kept.file = `${dataDirectory}/queues.json`;
  if (mistake !== 'data-lost' && existsSync(kept.file))
    for (const [name, count] of JSON.parse(readFileSync(kept.file, 'utf8'))) queues.set(name, count);
  if (mistake === 'slow-start') await new Promise((resolve) => setTimeout(resolve, slowMs));
  if (mistake === 'stdout-text') console.log('broker starting, please wait');
  const server = createServer({ allowHalfOpen: true }, serve);
  const port = await listen(server);
  if (mistake === 'port-closed') server.close();
  if (mistake === 'answers-early') {
    server.close();
    setTimeout(() => server.listen(port, '127.0.0.1'), 200);
  }
  const health = await listen(createHttpServer(serveHealth));
  const answer = {
    protocol: 1,
    ready: true,
    broker: { name: 'Faulty', version: '1' },
    tcp: { host: '127.0.0.1', port },
    health: { url: `http://127.0.0.1:${health}` },
  };
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

function serveHealth(request, response) {
  const path = mistake === 'health-path' ? '/api/health' : '/health/';
  if (request.url !== path) {
    response.statusCode = 404;
    return response.end('nothing here');
  }
  response.end(
    JSON.stringify({ status: 'healthy', active_connections: 0, queue_count: 0, memory_usage_mb: 1 }),
  );
}

function serve(socket) {
  let bytes = Buffer.alloc(0);
  let unsent = Buffer.alloc(0);
  socket.on('error', () => {});
  socket.on('end', () => socket.end(mistake.startsWith('flushes') ? unsent : undefined));
  socket.on('data', (chunk) => {
    if (mistake === 'flushes-later' && unsent.length > 0) {
      socket.write(unsent);
      unsent = Buffer.alloc(0);
    }
    bytes = Buffer.concat([bytes, chunk]);
    for (let taken = takeBody(bytes); taken !== undefined; taken = takeBody(bytes)) {
      bytes = taken.rest;
      const answer = framed(answerTo(taken.body));
      if (mistake.startsWith('flushes')) unsent = Buffer.concat([unsent, answer]);
      else if (mistake === 'slow-answer') setTimeout(() => socket.write(answer), slowMs);
      else socket.write(answer);
    }
  });
}

/** The length field, and what it says of the bytes after the flags byte. */
const forms = {
  'little-endian': {
    read: (bytes) => bytes.readUInt32LE(0),
    write: (head, n) => head.writeUInt32LE(n),
    extra: 0,
  },
  'counts-itself': {
    read: (bytes) => bytes.readUInt32BE(0),
    write: (head, n) => head.writeUInt32BE(n),
    extra: 4,
  },
  right: { read: (bytes) => bytes.readUInt32BE(0), write: (head, n) => head.writeUInt32BE(n), extra: 0 },
};
const form = forms[mistake] ?? forms.right;

function takeBody(bytes) {
  if (mistake === 'no-prefix') {
    const isConnect = bytes.length > 4 && bytes[0] === 1;
    return isConnect ? { body: bytes, rest: Buffer.alloc(0) } : undefined;
  }
  if (bytes.length < 5) return undefined;
  const end = 5 + form.read(bytes) - form.extra;
  if (bytes.length < end) return undefined;
  return { body: bytes.subarray(5, end), rest: bytes.subarray(end) };
}

function framed(body) {
  if (mistake === 'no-prefix') return body;
  const head = Buffer.alloc(5);
  form.write(head, body.length + form.extra);
  return Buffer.concat([head, body]);
}

function answerTo(body) {
  const id = textAt(body, 2);
  const queue = textAt(body, 4 + id.length);
  switch (body[1]) {
    case 0:
      return mistake === 'credentials'
        ? encode(Answer.error, id, '', '', ['AUTH_REQUIRED', 'a token is needed'])
        : encode(Answer.connect, id);
    case 10:
      return encode(Answer.pong, id);
    case 20:
      queues.set(queue, (queues.get(queue) ?? 0) + 1);
      writeFileSync(kept.file, JSON.stringify([...queues]));
      return encode(Answer.publish, mistake === 'answer-id' ? 'ack-1' : id, queue);
    case 40:
      queues.set(queue, queues.get(queue) ?? 0);
      return encode(Answer.create, id, queue);
    case 41:
      queues.delete(queue);
      return encode(Answer.delete, id, queue);
    case 42: {
      const info = queues.has(queue) ? JSON.stringify({ name: queue, messageCount: queues.get(queue) }) : '';
      return encode(Answer.info, id, queue, info);
    }
    default:
      return encode(Answer.error, id, '', '', ['UNKNOWN_COMMAND', 'not here']);
  }
}

function textAt(body, at) {
  if (body.length < at + 2) return '';
  return body.subarray(at + 2, at + 2 + body.readUInt16BE(at)).toString();
}

function encode(command, id, queue = '', payload = '', error = []) {
  const payloadLength = Buffer.alloc(4);
  payloadLength.writeUInt32BE(Buffer.byteLength(payload));
  const parts = [Buffer.from([1, command]), text16(id), text16(queue), payloadLength, Buffer.from(payload)];
  return Buffer.concat([...parts, Buffer.alloc(2), ...error.map(text16)]);
}

function text16(text) {
  const bytes = Buffer.from(text);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

function listen(server) {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(server.address().port));
  });
}
