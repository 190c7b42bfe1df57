// What the connections of different checks share: the turns to log in with a password. Uses a server that leaves these Connects without an
// answer until it is told to answer.
import { EventEmitter, once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import type { CheckContext } from '../check.ts';
import type { Connection } from '../connection.ts';
import type { Target } from '../target/target-file.ts';
import { recordedFrames, tinyCatalogue, tinyCheck, tinyOptions } from '../testing/tiny-target.ts';
import { Command } from '../wire/command.ts';
import { decodeBody } from '../wire/decode.ts';
import { encodeFrame } from '../wire/encode.ts';
import { FrameReader } from '../wire/frame-reader.ts';
import { runSuite } from './suite.ts';

const answers = new Map<number, number>([
  [Command.Connect, Command.ConnectAck],
  [Command.Ping, Command.Pong],
]);

/** The Connects without an answer: those with an id of `login`. */
class UnansweredLogins {
  readonly #answers: (() => void)[] = [];
  #areAnswered = false;

  get count(): number {
    return this.#answers.length;
  }

  add(answer: () => void): void {
    if (this.#areAnswered) answer();
    else this.#answers.push(answer);
  }

  /** Answers those of now and those that come. */
  answer(): void {
    this.#areAnswered = true;
    for (const answer of this.#answers) answer();
  }
}

function serve(socket: Socket, logins: UnansweredLogins): void {
  const reader = new FrameReader(10_000);
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => {
    reader.push(chunk);
    for (let frame = reader.next(); frame !== undefined; frame = reader.next()) {
      const { command, id } = decodeBody(frame.body);
      const answer = encodeFrame({ command: answers.get(command) ?? Command.Error, id });
      if (id.startsWith('login')) logins.add(() => socket.write(answer));
      else socket.write(answer);
    }
  });
}

async function attachedTo(logins: UnansweredLogins): Promise<Target> {
  const server = createServer((socket) => serve(socket, logins)).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const endpoints = { tcp: { host: '127.0.0.1', port: (server.address() as AddressInfo).port } };
  return { schema: 1, name: 'attached', lifecycle: { kind: 'attach' }, endpoints };
}

/** Three connections that have sent their Connect, or wait for their turn to send it. */
function loggingIn(ctx: CheckContext): Promise<readonly Connection[]> {
  const opened = ['a', 'b', 'c'].map(async (name) => {
    const connection = await ctx.rawConnect();
    void connection.send({ command: Command.Connect, id: `login ${name}` });
    return connection;
  });
  return Promise.all(opened);
}

async function assertLoggedIn(ctx: CheckContext, connections: readonly Connection[]): Promise<void> {
  for (const connection of connections) {
    const answer = await connection.next();
    ctx.assert.equal(answer.commandName, 'ConnectAck', 'Connect is answered');
  }
}

it('all checks of a run together have four Connects with a password without an answer', async () => {
  const logins = new UnansweredLogins();
  const first = new EventEmitter();
  const firstHasSent = once(first, 'sent');
  const unanswered: number[] = [];
  const checks = [
    tinyCheck('CONN-001a', async (ctx) => {
      const connections = await loggingIn(ctx);
      first.emit('sent');
      await assertLoggedIn(ctx, connections);
    }),
    tinyCheck('CONN-001b', async (ctx) => {
      await firstHasSent;
      const connections = await loggingIn(ctx);
      // What was sent before this Ping has arrived before its Pong.
      await (await ctx.rawConnect()).ping();
      unanswered.push(logins.count);
      logins.answer();
      await assertLoggedIn(ctx, connections);
    }),
  ];
  const options = tinyOptions({
    target: await attachedTo(logins),
    credentials: { authUsername: 'anna', authPassword: 'secret' },
  });
  const sources = { catalogue: tinyCatalogue(checks), golden: recordedFrames() };
  const { results } = await runSuite(sources, options, () => {});
  expect(results.map(({ outcome, reason }) => reason ?? outcome)).toEqual(['pass', 'pass']);
  expect(unanswered).toEqual([4]);
});
