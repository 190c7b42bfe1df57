// One connection of the load: TLS and login where the target has them, handshake, the few commands that prepare a pass, and the fast path for
// everything else. Frames that answer no command go to whoever loads, as views. A connection that ends on its own is a LoadFault of the pass.
// Areas: CONN, TLS, AUTH.
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import type { TlsTrust } from '../../target/target-file.ts';
import { Command, commandName } from '../../wire/command.ts';
import type { Credentials } from '../../wire/credentials.ts';
import { decodeBody } from '../../wire/decode.ts';
import { encodeFrame } from '../../wire/encode.ts';
import type { DecodedBody, FrameFields } from '../../wire/frame.ts';
import { FrameGatherer } from '../../wire/frame-gatherer.ts';
import { FrameSplitter } from '../../wire/frame-splitter.ts';
import type { FrameView } from '../../wire/frame-view.ts';
import { secureSocket } from '../../wire/secure-socket.ts';
import { LoadFault } from './load-fault.ts';

/** Where and how a load connects. Load processes get it as JSON. */
export type Address = {
  readonly host: string;
  readonly port: number;
  /** Given: with TLS. */
  readonly tls?: TlsTrust;
  /** Headers of Connect. */
  readonly credentials?: Credentials;
};

export type LinkHandlers = {
  /** Every frame that answers no `request`. */
  readonly onFrame?: (frame: FrameView) => void;
  /** After the frames of one read: the moment to send what they made possible. */
  readonly onRead?: () => void;
  /** The broker closed the connection, or sent bytes that cannot be decoded. */
  readonly onFault?: (fault: LoadFault) => void;
};

type Pending = { readonly resolve: (body: DecodedBody) => void; readonly reject: (fault: LoadFault) => void };

const openMs = 10_000;
const answerMs = 60_000;
const connectId = 'connect';

export class LoadLink {
  readonly out: FrameGatherer;
  /** Set these before sending a command that brings frames. */
  handlers: LinkHandlers = {};
  readonly #socket: Socket;
  readonly #pending = new Map<string, Pending>();
  #capabilities: readonly string[] = [];
  #commandCount = 0;
  #isClosing = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.out = new FrameGatherer(socket);
    const splitter = new FrameSplitter((frame) => this.#handleFrame(frame));
    socket.on('data', (chunk: Buffer) => this.#handleChunk(splitter, chunk));
    socket.on('error', (error) => this.#end(new LoadFault(`the connection broke: ${error.message}`)));
    socket.on('close', () => this.#end(new LoadFault('the broker closed the connection')));
  }

  /** Connects, logs in and shakes hands. Throws a LoadFault. */
  static async open(address: Address): Promise<LoadLink> {
    const link = new LoadLink(await openSocket(address));
    const headers = { ...address.credentials };
    const accepted = await link.#answerTo({ command: Command.Connect, id: connectId, headers });
    const announced = accepted.headers.find(([key]) => key === 'capabilities')?.[1] ?? '';
    link.#capabilities = announced.split(',').map((name) => name.trim());
    return link;
  }

  /** Whether ConnectAck announced an optional ability. */
  can(capability: string): boolean {
    return this.#capabilities.includes(capability);
  }

  /** Sends a command and resolves with its answer; rejects with a LoadFault when that is an Error, or none within a minute. */
  request(fields: Omit<FrameFields, 'id'>): Promise<DecodedBody> {
    this.#commandCount += 1;
    return this.#answerTo({ ...fields, id: `command-${this.#commandCount}` });
  }

  /** Stops reading for good, so that the broker's sending backs up. */
  stopReading(): void {
    this.#socket.pause();
  }

  /** Closes the connection and rejects pending requests. */
  close(): void {
    this.#isClosing = true;
    this.#socket.destroy();
    this.#rejectAll(new LoadFault('the connection was closed here'));
  }

  async #answerTo(fields: FrameFields): Promise<DecodedBody> {
    const timer = setTimeout(() => {
      this.#pending.get(fields.id)?.reject(new LoadFault(`no answer to ${commandName(fields.command)}`));
    }, answerMs);
    try {
      return await new Promise((resolve, reject) => {
        this.#pending.set(fields.id, { resolve, reject });
        this.out.add(encodeFrame(fields));
      });
    } finally {
      clearTimeout(timer);
      this.#pending.delete(fields.id);
    }
  }

  #handleChunk(splitter: FrameSplitter, chunk: Buffer): void {
    try {
      splitter.push(chunk);
      this.handlers.onRead?.();
    } catch (error) {
      this.#end(error instanceof LoadFault ? error : new LoadFault(`cannot be read: ${String(error)}`));
      this.close();
    }
  }

  #handleFrame(frame: FrameView): void {
    const isLoad = frame.command === Command.PublishAck || frame.command === Command.Deliver;
    if (isLoad || this.#pending.size === 0) this.handlers.onFrame?.(frame);
    else this.#handleAnswer(frame);
  }

  #handleAnswer(frame: FrameView): void {
    // A broker may give ConnectAck an id of its own.
    const id = frame.command === Command.ConnectAck ? connectId : frame.id();
    const pending = this.#pending.get(id);
    if (pending === undefined) return this.handlers.onFrame?.(frame);
    const body = decodeBody(frame.body());
    if (frame.command !== Command.Error) return pending.resolve(body);
    pending.reject(new LoadFault(`the broker refused: ${body.errorCode} ${body.errorMessage}`.trim()));
  }

  #end(fault: LoadFault): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#rejectAll(fault);
    this.handlers.onFault?.(fault);
  }

  #rejectAll(fault: LoadFault): void {
    for (const pending of this.#pending.values()) pending.reject(fault);
  }
}

async function openSocket(address: Address): Promise<Socket> {
  const { host, port, tls } = address;
  const socket = connect({ host, port, noDelay: true });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(openMs) });
    return tls === undefined ? socket : await secureSocket(socket, { trust: tls, host, withinMs: openMs });
  } catch (error) {
    socket.destroy();
    throw new LoadFault(`${host}:${port} cannot be reached: ${(error as Error).message}`);
  }
}
