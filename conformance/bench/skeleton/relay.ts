// A minimal broker for benchmarks: it relays, confirms and delivers messages, and waits for acknowledgments, in one queue or to every
// subscriber. It has no checks, limits or retries, and treats each ack as one of the oldest delivery. Its figures are the upper limit with
// which brokers and clients are compared.
import type { Duplex } from 'node:stream';
import { Command } from '../../src/wire/command.ts';
import { decodeBody } from '../../src/wire/decode.ts';
import { encodeFrame } from '../../src/wire/encode.ts';
import { FrameGatherer } from '../../src/wire/frame-gatherer.ts';
import { FrameSplitter } from '../../src/wire/frame-splitter.ts';
import type { FrameView } from '../../src/wire/frame-view.ts';
import { Fifo } from './fifo.ts';
import type { Ledger } from './ledger.ts';

const defaultWindow = 256;
/** Offsets in a frame: of the command, and of the id. */
const commandInFrame = 6;
const idInFrame = 9;

/** A whole Deliver frame, ready to be sent; `row` is its row in the ledger, if there is one. */
export type Message = Buffer & { row?: number };

export class Relay {
  readonly #queues = new Map<string, RelayQueue>();
  /** If set, a message is on the disk before it is confirmed or delivered. */
  readonly ledger: Ledger | undefined;

  constructor(ledger?: Ledger) {
    this.ledger = ledger;
  }

  attach(socket: Duplex): void {
    const connection = new RelayConnection(this, new FrameGatherer(socket));
    const splitter = new FrameSplitter((frame) => connection.handle(frame, socket));
    socket.on('data', (chunk: Buffer) => splitter.push(chunk));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => connection.leave());
  }

  queue(name: string): RelayQueue {
    const queue = this.#queues.get(name) ?? new RelayQueue(name);
    this.#queues.set(name, queue);
    return queue;
  }

  remove(name: string): void {
    this.#queues.delete(name);
  }
}

class RelayQueue {
  readonly name: Buffer;
  readonly waiting = new Fifo<Message>();
  isFanOut = false;
  expectsAcks = true;
  readonly #subscribers: Subscription[] = [];
  #turn = 0;

  constructor(name: string) {
    this.name = Buffer.from(name);
  }

  add(message: Message): void {
    if (this.isFanOut && this.#subscribers.length > 0) this.#offerAll(message);
    else this.waiting.push(message);
  }

  subscribe(subscription: Subscription): void {
    this.#subscribers.push(subscription);
    this.dispatch();
  }

  leave(subscription: Subscription): void {
    const index = this.#subscribers.indexOf(subscription);
    if (index >= 0) this.#subscribers.splice(index, 1);
  }

  /** Sends waiting messages to the subscribers in turn, as long as one has room. */
  dispatch(): void {
    let fullCount = 0;
    while (this.waiting.size > 0 && fullCount < this.#subscribers.length) {
      this.#turn = (this.#turn + 1) % this.#subscribers.length;
      const subscription = this.#subscribers[this.#turn];
      fullCount = subscription?.hasRoom === true ? 0 : fullCount + 1;
      if (fullCount === 0) subscription?.deliver(this.waiting.shift());
    }
  }

  #offerAll(message: Message): void {
    for (const subscription of this.#subscribers) subscription.offer(message);
  }
}

/** The subscription of one connection to one queue. */
class Subscription {
  readonly queue: RelayQueue;
  readonly #out: FrameGatherer;
  readonly #window: number;
  readonly #inFlight = new Fifo<Message>();
  readonly #owed = new Fifo<Message>();

  constructor(queue: RelayQueue, out: FrameGatherer, window: number) {
    this.queue = queue;
    this.#out = out;
    this.#window = queue.expectsAcks ? window : Number.POSITIVE_INFINITY;
  }

  get hasRoom(): boolean {
    return this.#inFlight.size < this.#window;
  }

  offer(message: Message): void {
    if (this.hasRoom) this.deliver(message);
    else this.#owed.push(message);
  }

  deliver(message: Message | undefined): void {
    if (message === undefined) return;
    if (this.queue.expectsAcks) this.#inFlight.push(message);
    this.#out.add(message);
  }

  /** The ledger's row of the acknowledged message. */
  acknowledged(): number | undefined {
    const message = this.#inFlight.shift();
    if (this.queue.isFanOut) this.deliver(this.#owed.shift());
    else this.queue.dispatch();
    return message?.row;
  }
}

/** The data of a PublishAck. */
type Published = Pick<FrameView, 'bytes' | 'idAt' | 'payloadAt'>;

class RelayConnection {
  readonly #relay: Relay;
  readonly #out: FrameGatherer;
  #subscription: Subscription | undefined;
  /** The queue of the last publish: comparing the bytes of its name is cheaper than creating a string. */
  #queue: RelayQueue | undefined;

  constructor(relay: Relay, out: FrameGatherer) {
    this.#relay = relay;
    this.#out = out;
  }

  handle(frame: FrameView, socket: Duplex): void {
    switch (frame.command) {
      case Command.Publish:
        return this.#publish(frame);
      case Command.Ack:
        return this.#acknowledge();
      case Command.Connect:
        return this.#answer(frame, Command.ConnectAck, { headers: { capabilities: 'maxInFlight' } });
      case Command.Ping:
        return this.#answer(frame, Command.Pong);
      case Command.Subscribe:
        return this.#subscribe(frame);
      case Command.CreateQueue:
        return this.#createQueue(frame);
      case Command.DeleteQueue:
        this.#relay.remove(frame.queue());
        return this.#answer(frame, Command.DeleteQueue);
      case Command.QueueInfo:
        return this.#queueInfo(frame);
      case Command.AdminCreateUser:
      case Command.AdminGrantPermission:
        return this.#answer(frame, frame.command);
      case Command.Disconnect:
        socket.end();
        return;
    }
  }

  leave(): void {
    if (this.#subscription !== undefined) this.#subscription.queue.leave(this.#subscription);
  }

  #publish(frame: FrameView): void {
    const queue = this.#queueOf(frame);
    // Copies the bytes, so that a waiting message does not keep a whole read buffer in memory.
    const message: Message = Buffer.allocUnsafe(frame.endAt - frame.idAt + idInFrame);
    frame.bytes.copy(message, 0, frame.idAt - idInFrame, frame.endAt);
    message[commandInFrame] = Command.Deliver;
    const { ledger } = this.#relay;
    if (ledger === undefined) this.#accept(queue, message, frame);
    else {
      const own = { bytes: message, idAt: idInFrame, payloadAt: frame.payloadAt - frame.idAt + idInFrame };
      ledger.add(message, () => this.#accept(queue, message, own));
    }
  }

  #accept(queue: RelayQueue, message: Message, published: Published): void {
    queue.add(message);
    this.#confirm(published);
    queue.dispatch();
  }

  #acknowledge(): void {
    const row = this.#subscription?.acknowledged();
    if (row !== undefined) this.#relay.ledger?.remove(row);
  }

  /** PublishAck is the beginning of the Publish up to the queue name. */
  #confirm({ bytes, idAt, payloadAt }: Published): void {
    const namesBytes = payloadAt - 4 - (idAt - 2);
    const bodyBytes = 2 + namesBytes + 6;
    const at = this.#out.reserve(5 + bodyBytes);
    const slab = this.#out.slab;
    slab.writeUInt32BE(bodyBytes, at);
    slab[at + 4] = 0;
    slab[at + 5] = 1;
    slab[at + commandInFrame] = Command.PublishAck;
    bytes.copy(slab, at + 7, idAt - 2, payloadAt - 4);
    slab.fill(0, at + 7 + namesBytes, at + 5 + bodyBytes);
  }

  #queueOf(frame: FrameView): RelayQueue {
    const known = this.#queue?.name;
    const { bytes, queueAt, queueBytes } = frame;
    const isSame = known?.length === queueBytes && known.compare(bytes, queueAt, queueAt + queueBytes) === 0;
    if (!isSame || this.#queue === undefined) this.#queue = this.#relay.queue(frame.queue());
    return this.#queue;
  }

  #subscribe(frame: FrameView): void {
    const { headers, queue } = decodeBody(frame.body());
    const wanted = headers.find(([key]) => key === 'maxInFlight')?.[1];
    this.#answer(frame, Command.SubscribeAck, { queue });
    const relayQueue = this.#relay.queue(queue);
    this.#subscription = new Subscription(relayQueue, this.#out, Number(wanted ?? defaultWindow));
    relayQueue.subscribe(this.#subscription);
  }

  #createQueue(frame: FrameView): void {
    const queue = this.#relay.queue(frame.queue());
    const { mode = 0 } = JSON.parse(frame.payload() || '{}') as { mode?: number };
    queue.isFanOut = mode === 1 || mode === 2;
    queue.expectsAcks = mode !== 2;
    this.#answer(frame, Command.CreateQueue);
  }

  #queueInfo(frame: FrameView): void {
    const name = frame.queue();
    const payload = JSON.stringify({ name, messageCount: this.#relay.queue(name).waiting.size });
    this.#answer(frame, Command.QueueInfo, { queue: name, payload });
  }

  #answer(
    frame: FrameView,
    command: number,
    more: { queue?: string; payload?: string; headers?: Record<string, string> } = {},
  ): void {
    this.#out.add(encodeFrame({ command, id: frame.id(), ...more }));
  }
}
