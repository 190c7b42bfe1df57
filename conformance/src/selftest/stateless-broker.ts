// A broker without state for the self-test: it answers every command positively, shows the same empty queues and figures to every client,
// and delivers nothing. A check that passes on it judges answers only.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Command } from '../wire/command.ts';
import { decodeBody } from '../wire/decode.ts';
import { encodeFrame } from '../wire/encode.ts';
import type { DecodedBody } from '../wire/frame.ts';
import { FrameReader } from '../wire/frame-reader.ts';

/** The QueueInfo of a queue name; undefined: no payload, as for a queue that does not exist. */
export type StatelessInfo = (queue: string) => Readonly<Record<string, unknown>> | undefined;

/** The info of an empty queue with default options. */
export const plausibleInfo: StatelessInfo = (name) => ({
  name,
  messageCount: 0,
  subscriberCount: 0,
  deliveryMode: 0,
  maxSize: 10_000,
  maxRetryAttempts: 3,
  overflowStrategy: 0,
  enableDeadLetterQueue: false,
  createdAt: '2026-01-01T00:00:00Z',
});

const positiveAnswers: ReadonlyMap<number, number> = new Map([
  [Command.Connect, Command.ConnectAck],
  [Command.Ping, Command.Pong],
  [Command.Publish, Command.PublishAck],
  [Command.Subscribe, Command.SubscribeAck],
  [Command.Unsubscribe, Command.UnsubscribeAck],
  [Command.CreateQueue, Command.CreateQueue],
  [Command.DeleteQueue, Command.DeleteQueue],
  [Command.QueueInfo, Command.QueueInfo],
  [Command.ListQueues, Command.ListQueues],
]);

/** Closes the connection after Disconnect, or after bytes that are not a frame. */
export function answerAll(socket: Socket, info: StatelessInfo): void {
  const reader = new FrameReader(1024 * 1024);
  socket.on('data', (chunk) => {
    reader.push(chunk);
    try {
      for (let frame = reader.next(); frame !== undefined; frame = reader.next()) {
        const command = decodeBody(frame.body);
        if (command.command === Command.Disconnect) return void socket.end();
        answer(socket, command, info);
      }
    } catch {
      socket.destroy();
    }
  });
}

function answer(socket: Socket, { command: asked, id, queue }: DecodedBody, info: StatelessInfo): void {
  const command = positiveAnswers.get(asked);
  if (command === undefined) return;
  const content = contentOf(command, queue, info);
  const payload = content === undefined ? {} : { payload: JSON.stringify(content) };
  socket.write(encodeFrame({ command, id, queue, ...payload }));
}

function contentOf(command: number, queue: string, info: StatelessInfo): unknown {
  switch (command) {
    case Command.QueueInfo:
      return info(queue);
    case Command.ListQueues:
      return [];
    default:
      return undefined;
  }
}

const timestamp = '2026-01-01T00:00:00Z';

const health = {
  status: 'healthy',
  active_connections: 0,
  queue_count: 0,
  memory_usage_mb: 64,
  is_healthy: true,
  in_flight_messages: 0,
  total_messages_published: 0,
  total_messages_delivered: 0,
  timestamp,
};

const metrics = {
  total_messages_published: 0,
  total_messages_delivered: 0,
  total_messages_acknowledged: 0,
  total_retries: 0,
  total_dead_lettered: 0,
  total_errors: 0,
  total_connections_accepted: 0,
  total_connections_rejected: 0,
  active_connections: 0,
  active_queues: 0,
  in_flight_messages: 0,
  memory_usage_bytes: 67_108_864,
  average_delivery_latency_ms: 0,
  timestamp,
  uptime: '00:00:01',
};

/** Always the same records: metrics under /metrics, health everywhere else. */
export function answerHttp(request: IncomingMessage, response: ServerResponse): void {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(request.url?.startsWith('/metrics') === true ? metrics : health));
}
