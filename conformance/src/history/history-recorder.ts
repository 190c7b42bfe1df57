// Records the history of a check from the frames on its connections, so that a check need not log its own actions. It starts when the
// check asks for it, and then sees every connection of the check. It judges nothing. Areas: PUBLISH, DELIVERY.
import { Command } from '../wire/command.ts';
import type { FrameFields, ReceivedFrame } from '../wire/frame.ts';
import { headerPairs } from '../wire/frame.ts';
import type { WireObserver } from '../wire/link.ts';
import { MessageContents } from './message-contents.ts';
import type { Operation } from './operation.ts';

type Step = Operation extends infer Each
  ? Each extends Operation
    ? Omit<Each, 'atMs' | 'connection'>
    : never
  : never;

export class HistoryRecorder implements WireObserver {
  readonly #operations: Operation[] = [];
  readonly #now: () => number;
  readonly #withContents: boolean;
  readonly #contents = new MessageContents();
  #isOn = false;
  /** The unanswered commands of each connection, by id. */
  readonly #asked = new Map<string, { readonly command: number; readonly queue: string }>();
  /** The number of operations before each Ping that was sent. */
  readonly #pings = new Map<string, number>();

  /** `withContents`: payloads are compared, which takes time. */
  constructor(now: () => number, { withContents = true } = {}) {
    this.#now = now;
    this.#withContents = withContents;
  }

  get operations(): readonly Operation[] {
    return this.#operations;
  }

  begin(): void {
    this.#isOn = true;
  }

  /** Records an event that no connection shows: the broker was killed or started. */
  note(kind: 'crashed' | 'restarted'): void {
    this.#add('-', { kind });
  }

  sent(connection: string, fields: FrameFields): void {
    const { command, id, queue = '' } = fields;
    // An Ack has the id of its message, which this connection may have published, and no answer.
    if (command !== Command.Ack) this.#asked.set(key(connection, id), { command, queue });
    switch (command) {
      case Command.Publish:
        this.#add(connection, { kind: 'publish', queue, id, content: this.#contentOf(fields.payload) });
        break;
      case Command.Subscribe:
        this.#add(connection, { kind: 'subscribe', queue });
        break;
      case Command.Unsubscribe:
        this.#add(connection, { kind: 'unsubscribe', queue });
        break;
      case Command.Ack:
        this.#add(connection, ackOf(fields));
        break;
      case Command.Ping:
        this.#pings.set(key(connection, id), this.#operations.length);
        break;
      case Command.DeleteQueue:
        this.#add(connection, { kind: 'emptied', queue });
        break;
    }
  }

  received(connection: string, frame: ReceivedFrame): void {
    const { command, id, queue } = frame;
    switch (command) {
      case Command.PublishAck:
        this.#add(connection, { kind: 'published', queue: this.#queueOf(connection, frame), id });
        break;
      case Command.Error:
        this.#refused(connection, frame);
        break;
      case Command.SubscribeAck:
        this.#add(connection, { kind: 'subscribed', queue: this.#queueOf(connection, frame) });
        break;
      case Command.UnsubscribeAck:
        this.#add(connection, { kind: 'unsubscribed', queue: this.#queueOf(connection, frame) });
        break;
      case Command.Deliver:
        this.#add(connection, { kind: 'delivered', queue, id, content: this.#contentOf(frame.payload) });
        break;
      case Command.Pong:
        this.#add(connection, { kind: 'synchronised', upTo: this.#pings.get(key(connection, id)) ?? 0 });
        break;
    }
  }

  closed(connection: string, byRunner: boolean): void {
    this.#add(connection, { kind: 'closed', byRunner });
  }

  #refused(connection: string, { id, errorCode }: ReceivedFrame): void {
    const asked = this.#asked.get(key(connection, id));
    if (asked?.command !== Command.Publish) return;
    this.#add(connection, { kind: 'refused', queue: asked.queue, id, code: errorCode });
  }

  /** The queue of the command; the queue in the answer is judged by other checks. */
  #queueOf(connection: string, { id, queue }: ReceivedFrame): string {
    return this.#asked.get(key(connection, id))?.queue ?? queue;
  }

  /** The digest takes time, so it is computed only if it is kept. */
  #contentOf(payload: string | Buffer | undefined): string {
    return this.#isOn && this.#withContents ? this.#contents.contentOf(payload) : '';
  }

  #add(connection: string, step: Step): void {
    if (this.#isOn) this.#operations.push({ ...step, connection, atMs: this.#now() } as Operation);
  }
}

function key(connection: string, id: string): string {
  return `${connection}\n${id}`;
}

function ackOf({ id, queue, headers }: FrameFields): Step {
  const pairs = new Map(headerPairs(headers));
  return {
    kind: 'ack',
    id: pairs.get('messageId') ?? id,
    ...(queue === undefined || queue === '' ? {} : { queue }),
    ...(pairs.has('failureReason') ? { negative: true as const } : {}),
  };
}
