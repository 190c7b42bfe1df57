// An adapter with a small broker in it that makes one of the mistakes that adapters and brokers make when they are new; the doctor's test
// demands that each is named. The first argument is the mistake:
//   none, stdout-text, port-closed, little-endian, counts-itself, no-prefix, answer-id, flushes-later, flushes-at-close,
//   credentials, health-path, data-lost, ignores-stop, outlives-input, slow-answer, slow-start, answers-early,
//   publish-unanswered, no-delivery, delivery-late, other-content, other-id, ack-ignored, ack-uncounted
// With respaced it makes none: it writes the JSON of a payload in its own way.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';

const mistake = process.argv[2] ?? 'none';
const slowStartMs = 900;
const slowAnswerMs = 500;
/** Between the pauses that a busy machine makes in the doctor and the 4 s that the doctor waits for a port. */
const lateListenMs = 1500;
const Answer = {
  connect: 1,
  error: 99,
  pong: 11,
  publish: 21,
  subscribe: 23,
  deliver: 26,
  create: 40,
  delete: 41,
  info: 42,
};

/** The messages of each queue, and the file that keeps them; named by the configuration. */
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
    for (const [name, messages] of JSON.parse(readFileSync(kept.file, 'utf8')))
      queues.set(name, { messages, subscribers: [], settledCount: 0 });
  if (mistake === 'slow-start') await new Promise((resolve) => setTimeout(resolve, slowStartMs));
  if (mistake === 'stdout-text') console.log('broker starting, please wait');
  const server = createServer({ allowHalfOpen: true }, serve);
  const port = await listen(server);
  const health = await listen(createHttpServer(serveHealth));
  if (mistake === 'port-closed') server.close();
  if (mistake === 'answers-early') {
    server.close();
    setTimeout(() => server.listen(port, '127.0.0.1'), lateListenMs);
  }
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
  const client = { socket, unsent: Buffer.alloc(0) };
  let bytes = Buffer.alloc(0);
  socket.on('error', () => {});
  socket.on('end', () => socket.end(mistake.startsWith('flushes') ? client.unsent : undefined));
  socket.on('close', () => leave(client));
  socket.on('data', (chunk) => {
    if (mistake === 'flushes-later') flush(client);
    bytes = Buffer.concat([bytes, chunk]);
    for (let taken = takeBody(bytes); taken !== undefined; taken = takeBody(bytes)) {
      bytes = taken.rest;
      handle(client, taken.body);
    }
  });
}

function send(client, body) {
  const frame = framed(body);
  const isHeld = mistake === 'delivery-late' && body[1] === Answer.deliver;
  if (mistake.startsWith('flushes') || isHeld) client.unsent = Buffer.concat([client.unsent, frame]);
  else if (mistake === 'slow-answer') setTimeout(() => client.socket.write(frame), slowAnswerMs);
  else client.socket.write(frame);
}

function flush(client) {
  if (client.unsent.length > 0) client.socket.write(client.unsent);
  client.unsent = Buffer.alloc(0);
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

function handle(client, body) {
  const id = textAt(body, 2);
  const queue = textAt(body, 4 + Buffer.byteLength(id));
  switch (body[1]) {
    case 0:
      return send(
        client,
        mistake === 'credentials'
          ? encode(Answer.error, id, '', '', ['AUTH_REQUIRED', 'a token is needed'])
          : encode(Answer.connect, id),
      );
    case 2:
      return client.socket.end();
    case 10:
      if (mistake === 'delivery-late') flush(client);
      return send(client, encode(Answer.pong, id));
    case 20:
      return publish(client, id, queue, body);
    case 22:
      queueNamed(queue).subscribers.push(client);
      send(client, encode(Answer.subscribe, id, queue));
      return deliver(queue);
    case 30:
      return acknowledge(id);
    case 40:
      queueNamed(queue);
      return send(client, encode(Answer.create, id, queue));
    case 41:
      queues.delete(queue);
      return send(client, encode(Answer.delete, id, queue));
    case 42:
      return send(client, encode(Answer.info, id, queue, infoOf(queue)));
    default:
      return send(client, encode(Answer.error, id, '', '', ['UNKNOWN_COMMAND', 'not here']));
  }
}

function queueNamed(name) {
  const queue = queues.get(name) ?? { messages: [], subscribers: [], settledCount: 0 };
  queues.set(name, queue);
  return queue;
}

function publish(client, id, queue, body) {
  const at = 6 + Buffer.byteLength(id) + Buffer.byteLength(queue);
  const payload = body.subarray(at + 4, at + 4 + body.readUInt32BE(at)).toString();
  queueNamed(queue).messages.push({ id, payload });
  save();
  if (mistake !== 'publish-unanswered')
    send(client, encode(Answer.publish, mistake === 'answer-id' ? 'ack-1' : id, queue));
  deliver(queue);
}

const changes = {
  respaced: (payload) => JSON.stringify(JSON.parse(payload), undefined, 2),
  'other-content': (payload) => payload.replace('2.5', '2'),
};

/** Each message that nobody holds, to the first subscriber. */
function deliver(name) {
  const { messages, subscribers } = queueNamed(name);
  const [subscriber] = subscribers;
  if (subscriber === undefined || mistake === 'no-delivery') return;
  for (const message of messages.filter(({ holder }) => holder === undefined)) {
    message.holder = subscriber;
    const payload = changes[mistake]?.(message.payload) ?? message.payload;
    send(subscriber, encode(Answer.deliver, mistake === 'other-id' ? 'd-1' : message.id, name, payload));
  }
}

function acknowledge(id) {
  if (mistake === 'ack-ignored') return;
  for (const queue of queues.values()) {
    queue.settledCount += queue.messages.filter((message) => message.id === id).length;
    queue.messages = queue.messages.filter((message) => message.id !== id);
  }
  save();
}

/** What a connection held is delivered to others. */
function leave(client) {
  for (const [name, queue] of queues) {
    queue.subscribers = queue.subscribers.filter((other) => other !== client);
    for (const message of queue.messages) if (message.holder === client) message.holder = undefined;
    deliver(name);
  }
}

function infoOf(name) {
  const queue = queues.get(name);
  if (queue === undefined) return '';
  const waitingCount = queue.messages.filter(({ holder }) => holder === undefined).length;
  const messageCount = waitingCount + (mistake === 'ack-uncounted' ? queue.settledCount : 0);
  return JSON.stringify({ name, messageCount, subscriberCount: queue.subscribers.length });
}

function save() {
  const messagesOf = ([name, { messages }]) => [name, messages.map(({ id, payload }) => ({ id, payload }))];
  writeFileSync(kept.file, JSON.stringify([...queues].map(messagesOf)));
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
