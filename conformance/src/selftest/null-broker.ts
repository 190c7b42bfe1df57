// Null brokers in this process, which implement nothing correctly. No check may pass on one: a check that passes tests nothing. On stateless
// kinds, which answer every command, only the checks of answers may pass (stateless-passes.ts). The HTTP ports behave like the TCP port,
// except for the kinds that answer HTTP. Null brokers can be stopped, crashed and started like a process, so that every check can run.
import { randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import type { Broker } from '../target/broker.ts';
import type { BrokerExit } from '../target/broker-process.ts';
import { LogTail } from '../target/log-tail.ts';
import type { Endpoints } from '../target/target-file.ts';
import { answerAll, answerHttp, plausibleInfo } from './stateless-broker.ts';

const behaviours = {
  /** Closes each connection immediately. */
  closes: (socket: Socket) => socket.destroy(),
  silent: (socket: Socket) => socket.resume(),
  /** Sends every byte back. */
  echoes: (socket: Socket) => socket.pipe(socket),
  garbage: (socket: Socket) => {
    socket.write(randomBytes(64));
    socket.on('data', () => socket.write(randomBytes(64)));
  },
  /** Does not answer on TCP. */
  http: (socket: Socket) => socket.resume(),
  /** Answers every command positively; every queue exists and is empty. */
  stateless: (socket: Socket) => answerAll(socket, plausibleInfo),
  /** The same, but QueueInfo returns an object without fields. */
  'stateless, empty info': (socket: Socket) => answerAll(socket, () => ({})),
  /** The same, but no queue exists. */
  'stateless, no info': (socket: Socket) => answerAll(socket, () => undefined),
} as const;
export type NullBrokerKind = keyof typeof behaviours;
export const nullBrokerKinds = Object.keys(behaviours) as readonly NullBrokerKind[];

/** It answers every command, but keeps no state. */
export function isStateless(kind: NullBrokerKind): boolean {
  return kind.startsWith('stateless');
}

/** It never answers a frame, so that a run against it only waits for deadlines. */
export function isMute(kind: NullBrokerKind): boolean {
  return kind === 'silent' || kind === 'http';
}

/** The kinds that answer HTTP; the HTTP ports of the others behave like their TCP port. */
const listeners: Partial<Readonly<Record<NullBrokerKind, RequestListener>>> = {
  http: (_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end('{}');
  },
  stateless: answerHttp,
  'stateless, empty info': answerHttp,
  'stateless, no info': answerHttp,
};

export async function startNullBroker(kind: NullBrokerKind): Promise<Broker> {
  const broker = new NullBroker(kind);
  await broker.start();
  return broker;
}

class NullBroker implements Broker {
  readonly identity: Broker['identity'];
  readonly unsupported: readonly string[] = [];
  readonly log = new LogTail();
  readonly processId: number | undefined = undefined;
  readonly dataDirectory: string | undefined = undefined;
  readonly #kind: NullBrokerKind;
  #listening: Listening | undefined;
  #noteEnd: (exit: BrokerExit) => void = () => {};
  exit: Promise<BrokerExit> = new Promise(() => {});

  constructor(kind: NullBrokerKind) {
    this.#kind = kind;
    this.identity = { name: `null broker: ${kind}` };
  }

  get endpoints(): Endpoints {
    if (this.#listening === undefined) throw new Error('the null broker was not started');
    const [tcp, health, dashboard] = this.#listening.ports;
    const url = (port: number): { readonly url: string } => ({ url: `http://127.0.0.1:${port}` });
    return { tcp: { host: '127.0.0.1', port: tcp }, health: url(health), dashboard: url(dashboard) };
  }

  /** It never ends by itself. */
  get unwantedEnd(): undefined {
    return undefined;
  }

  async findUnwantedEnd(): Promise<undefined> {
    return undefined;
  }

  async start(): Promise<void> {
    this.exit = new Promise((resolve) => {
      this.#noteEnd = resolve;
    });
    this.#listening = await listening(this.#kind);
  }

  /** As many as one likes. */
  async startSecond(): Promise<void> {}

  /** Whatever its configuration is. */
  async startOther(): Promise<void> {}

  terminate(): void {
    this.#end({ code: 0, signal: null });
  }

  async crash(): Promise<void> {
    this.#end({ code: null, signal: 'SIGKILL' });
  }

  async dispose(): Promise<void> {
    await this.crash();
  }

  #end(exit: BrokerExit): void {
    this.#listening?.close();
    this.#noteEnd(exit);
  }
}

type Listening = {
  readonly ports: readonly [tcp: number, health: number, dashboard: number];
  close(): void;
};

async function listening(kind: NullBrokerKind): Promise<Listening> {
  const sockets = new Set<Socket>();
  const tcp = await open(raw(kind), sockets);
  const health = await open(web(kind), sockets);
  const dashboard = await open(web(kind), sockets);
  return {
    ports: [tcp, health, dashboard].map((server) => (server.address() as AddressInfo).port) as [
      number,
      number,
      number,
    ],
    close: () => {
      for (const server of [tcp, health, dashboard]) server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function raw(kind: NullBrokerKind): Server {
  return createServer((socket) => {
    behaviours[kind](socket);
  });
}

function web(kind: NullBrokerKind): Server {
  const listener = listeners[kind];
  return listener === undefined ? raw(kind) : createHttpServer(listener);
}

function open(server: Server, sockets: Set<Socket>): Promise<Server> {
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
}
