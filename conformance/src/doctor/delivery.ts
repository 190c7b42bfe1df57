// Sends one message from a publisher to a subscriber: it must be delivered unchanged, and be removed after its ack. The subscriber
// subscribes first, so that the result does not depend on how the broker treats waiting messages. Areas: DELIVERY, QUEUE.
import { isDeepStrictEqual } from 'node:util';
import { frameText } from '../trace.ts';
import type { BrokerConnection } from '../wire/broker-connection.ts';
import type { CommandName } from '../wire/command.ts';
import { Command } from '../wire/command.ts';
import type { ReceivedFrame } from '../wire/frame.ts';
import type { ExchangeSetting } from './awaited-frames.ts';
import { awaitFrame, requestAnswer } from './awaited-frames.ts';

const commands = {
  ping: Command.Ping,
  queue: Command.CreateQueue,
  subscribe: Command.Subscribe,
  publish: Command.Publish,
} as const;

type Message = { readonly id: string; readonly payload: string };

/** True if a message was delivered and acknowledged; else findings are recorded. */
export async function tryDelivery(setting: ExchangeSetting, queue: string): Promise<boolean> {
  const exchange = new Exchange(setting, queue);
  const first = await exchange.deliver('first');
  if (first === undefined) return false;
  setting.examination.ok('delivery', 'a message came to its subscriber as it was published');
  return exchange.acknowledge(first);
}

class Exchange {
  readonly #setting: ExchangeSetting;
  readonly #queue: string;
  #publisher: BrokerConnection | undefined;
  #subscriber: BrokerConnection | undefined;

  constructor(setting: ExchangeSetting, queue: string) {
    this.#setting = setting;
    this.#queue = queue;
  }

  /** Subscribes with a new connection, publishes a message and takes its delivery; undefined after a finding. */
  async deliver(text: 'first' | 'second', settled?: Message): Promise<Message | undefined> {
    const { client } = this.#setting;
    this.#publisher ??= await client.connect();
    this.#subscriber = await client.connect();
    const payload = JSON.stringify({ doctor: text, 'a list': [1, 2.5, null, 'ä'] });
    const message = { id: client.id(), payload };
    if (settled === undefined && !(await this.#ask(this.#publisher, 'queue', 'CreateQueue')))
      return undefined;
    if (!(await this.#ask(this.#subscriber, 'subscribe', 'SubscribeAck'))) return undefined;
    const sentAt = performance.now();
    if (!(await this.#ask(this.#publisher, 'publish', 'PublishAck', message))) return undefined;
    const came = await awaitFrame(this.#setting, this.#subscriber, {
      step: 'delivery',
      what: `the delivery of message ${message.id} of ${this.#queue}`,
      fits: (frame) => frame.command === Command.Deliver,
      deadlineMs: this.#setting.timing.deliveryMs,
      missing: 'not-delivered',
      explain: async () => `; ${await this.#counts()}`,
      sentAt,
    });
    if (came === undefined) return undefined;
    return settled !== undefined && came.id === settled.id
      ? this.#deliveredAgain(settled)
      : this.#compared(message, came);
  }

  /** Acknowledges the message and checks that it is removed: the next subscriber gets the next message first, and the queue is empty. */
  async acknowledge(message: Message): Promise<boolean> {
    const { examination } = this.#setting;
    if (!(await this.#ack(message))) return false;
    await this.#subscriber?.disconnect();
    await this.#subscriber?.closed().catch(() => undefined);
    const second = await this.deliver('second', message);
    if (second === undefined || !(await this.#ack(second))) return false;
    if (!(await this.#isEmpty())) {
      const seen = `both messages were acknowledged, and ${await this.#counts()}`;
      examination.find('ack', { mistake: 'ack-ignored', seen });
      return false;
    }
    examination.ok('ack', 'what was acknowledged is not delivered again, and the queue is empty');
    return true;
  }

  /** When the Pong comes, the broker has read the ack. */
  async #ack({ id }: Message): Promise<boolean> {
    const subscriber = this.#subscriber;
    if (subscriber === undefined) return false;
    await subscriber.ack({ id, queue: this.#queue });
    return this.#ask(subscriber, 'ping', 'Pong');
  }

  #ask(
    connection: BrokerConnection,
    name: keyof typeof commands,
    wanted: CommandName,
    more: Partial<Message> = {},
  ): Promise<boolean> {
    const fields = { command: commands[name], id: this.#setting.client.id(), queue: this.#queue, ...more };
    return requestAnswer(this.#setting, connection, { name, fields, wanted });
  }

  #deliveredAgain({ id }: Message): undefined {
    const seen = `message ${id} was acknowledged, and was delivered to the next subscriber again`;
    this.#setting.examination.find('ack', { mistake: 'ack-ignored', seen });
  }

  #compared(message: Message, came: ReceivedFrame): Message | undefined {
    const wrong = this.#difference(message, came);
    if (wrong === undefined) return message;
    const seen = `${wrong}: published was id ${message.id}, queue ${this.#queue}, payload ${message.payload}; ${frameText(came)} came`;
    this.#setting.examination.find('delivery', { mistake: 'delivery-differs', seen });
    return undefined;
  }

  #difference({ id, payload }: Message, came: ReceivedFrame): string | undefined {
    if (came.id !== id) return 'the id is wrong';
    if (came.queue !== this.#queue) return 'the queue is wrong';
    return isDeepStrictEqual(jsonOf(came), JSON.parse(payload))
      ? undefined
      : 'the payload is another JSON value';
  }

  /** Asks until the queue is empty, for one answer deadline: an ack has no answer that shows when the broker has handled it. */
  async #isEmpty(): Promise<boolean> {
    const until = performance.now() + this.#setting.timing.answerMs;
    let count: unknown;
    do count = (await this.#info())?.['messageCount'];
    while (count !== 0 && performance.now() < until);
    return count === 0;
  }

  /** The QueueInfo of the queue in words. */
  async #counts(): Promise<string> {
    const info = await this.#info();
    if (info === undefined) return 'QueueInfo tells nothing of the queue';
    const { messageCount, subscriberCount } = info;
    return `QueueInfo says messageCount ${shown(messageCount)}, subscriberCount ${shown(subscriberCount)}`;
  }

  async #info(): Promise<Readonly<Record<string, unknown>> | undefined> {
    return this.#publisher?.queueInfo(this.#queue).catch(() => undefined);
  }
}

function shown(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}

function jsonOf(frame: ReceivedFrame): unknown {
  try {
    return frame.json();
  } catch {
    return undefined;
  }
}
