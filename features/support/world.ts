// The run of one scenario: its broker, its clients and what they did. Steps are one-liners over it. It starts the broker at
// the first use, so that a scenario that asks for nothing special says nothing about it, and it knows nothing of how the
// broker is run: that is the driver's, chosen by the environment variable FEATURES_DRIVER (in-process, delayed or tcp).

import assert from 'node:assert/strict';
import type { Duplex } from 'node:stream';
import { setWorldConstructor, World } from '@cucumber/cucumber';
import type { ConfigurationKey } from '../../src/config/keys.ts';
import { Command, commandName } from '../../src/protocol/command.ts';
import type { Algorithm } from '../../src/protocol/compression.ts';
import type { Message, MessageFields } from '../../src/protocol/message.ts';
import { Client } from './client.ts';
import { delayedDriver } from './drivers/delayed.ts';
import type { BrokerUnderTest, Driver, HttpAnswer, Setting } from './drivers/driver.ts';
import { inProcessDriver } from './drivers/in-process.ts';
import { tcpDriver } from './drivers/tcp.ts';
import { describeMessage, type FrameMatch, type ReceivedFrame } from './received-frame.ts';

export const driver: Driver = chosenDriver(process.env['FEATURES_DRIVER'] ?? 'in-process');

export class FeatureWorld extends World {
  /** The default limit on connections of one address would be met by scenarios that share a broker. */
  readonly settings = new Map<ConfigurationKey, Setting>([['rateLimit', 'off']]);
  /** Of the Connect of a client that the scenario says nothing about. */
  usualHeaders: ReadonlyMap<string, string> = new Map();
  readonly clients = new Map<string, Client>();
  /** Every frame of the scenario, in order, for a failure's report. */
  readonly conversation: string[] = [];
  /** When each message was last published, and between which moments each client was last sent it. */
  readonly publishedAt = new Map<string, number>();
  readonly attempts = new Map<string, { readonly earliestAt: number; readonly latestAt: number }>();
  /** What is left of a frame of which a client has sent the beginning. */
  readonly unsentBytes = new Map<string, Buffer>();
  /** The last answer over HTTP, and numbers that were noted, by path. */
  httpAnswer: HttpAnswer | undefined;
  readonly notedNumbers = new Map<string, Readonly<Record<string, unknown>>>();
  readonly connectAcks = new Map<string, Message>();
  #broker: BrokerUnderTest | undefined;
  #commandCount = 0;
  #lastCommand: { readonly label: string; readonly fields: MessageFields } | undefined;

  /** The broker, started if this is its first use. */
  async broker(): Promise<BrokerUnderTest> {
    this.#broker ??= await driver.start(this.settings);
    return this.#broker;
  }

  /** The broker, if it was ever used. */
  get brokerInUse(): BrokerUnderTest | undefined {
    return this.#broker;
  }

  /** A queue's name for the broker. */
  async queueName(name: string): Promise<string> {
    return name === '' ? '' : `${(await this.broker()).queuePrefix}${name}`;
  }

  /** A new connection that has sent nothing; `dial` opens it in another way than the driver. */
  async open(label: string, dial?: () => Promise<Duplex>): Promise<Client> {
    assert.ok(!this.clients.has(label), `${label} has a connection already`);
    const broker = await this.broker();
    const now = () => broker.now();
    const note = (line: string) => void this.conversation.push(line);
    const client = new Client(label, await (dial ?? (() => broker.open()))(), {
      now,
      note,
      onChange: broker.notify,
    });
    this.clients.set(label, client);
    return client;
  }

  /** A new connection after its handshake. */
  async connect(label: string, headers = this.usualHeaders): Promise<Client> {
    const client = await this.open(label);
    client.send({ command: Command.Connect, id: this.freshId('connect'), headers });
    const { message } = await this.receive(label, ofCommand(Command.ConnectAck), 'a ConnectAck');
    this.connectAcks.set(label, message);
    return client;
  }

  /** The client of that name; connected now if the scenario has not spoken of it before. */
  async client(label: string): Promise<Client> {
    return this.clients.get(label) ?? (await this.connect(label));
  }

  /** Sends a command and lets it take effect. */
  send(label: string, fields: MessageFields, algorithm?: Algorithm): Promise<void> {
    return this.sendAll(label, [fields], algorithm);
  }

  /** Sends commands one after the other, without waiting for answers, and lets them take effect. */
  async sendAll(label: string, all: readonly MessageFields[], algorithm?: Algorithm): Promise<void> {
    const client = await this.client(label);
    await (await this.broker()).settle([]);
    for (const fields of all) {
      this.#lastCommand = { label, fields };
      client.send(fields, algorithm);
    }
    await this.settle();
  }

  /** Sends a command with an id of no importance and lets it take effect. */
  sendAnyhow(label: string, fields: Omit<MessageFields, 'id'>): Promise<void> {
    const id = this.freshId((commandName(fields.command) ?? 'command').toLowerCase());
    return this.send(label, { ...fields, id });
  }

  freshId(stem: string): string {
    this.#commandCount += 1;
    return `${stem}-${this.#commandCount}`;
  }

  /** Everything sent has taken effect, and everything that came of it has arrived. */
  async settle(): Promise<void> {
    await (await this.broker()).settle(this.clients.values());
  }

  async pass(durationMs: number): Promise<void> {
    await (await this.broker()).pass(durationMs);
  }

  /** The earliest frame that fits and was not looked at before. Fails when none comes. */
  async receive(label: string, match: FrameMatch, what: string): Promise<ReceivedFrame> {
    const client = await this.client(label);
    const found = await (await this.broker()).until(() => client.take(match));
    return found ?? assert.fail(`${label} did not receive ${what}\n${this.#unseen(client)}`);
  }

  /** Fails when a frame that fits has come, or comes now. */
  async receiveNo(label: string, match: FrameMatch, what: string): Promise<void> {
    await this.settle();
    const found = (await this.client(label)).take(match);
    if (found !== undefined) assert.fail(`${label} received ${what}: ${describeMessage(found.message)}`);
  }

  /** The answer to the last command. */
  async answer(): Promise<ReceivedFrame> {
    const { label, fields } = this.lastCommand();
    return this.receive(label, ({ message }) => message.id === fields.id, `an answer to ${fields.id}`);
  }

  lastCommand(): { readonly label: string; readonly fields: MessageFields } {
    return this.#lastCommand ?? assert.fail('no command was sent');
  }

  async waitUntilClosed(label: string): Promise<void> {
    const client = await this.client(label);
    const isClosed = await (await this.broker()).until(() => client.isClosed || undefined);
    assert.ok(isClosed, `the connection of ${label} is still open`);
  }

  #unseen(client: Client): string {
    const lines = client.inbox.map(({ message }) => `  ${describeMessage(message)}`);
    return ['it had, not looked at by any step:', ...lines].join('\n');
  }
}

/** Frames of one command, and of one id if that is given. */
export function ofCommand(command: number, id?: string): FrameMatch {
  return ({ message }) => message.command === command && (id === undefined || message.id === id);
}

function chosenDriver(name: string): Driver {
  if (name === 'in-process') return inProcessDriver();
  if (name === 'delayed') return delayedDriver();
  if (name === 'tcp') return tcpDriver();
  throw new Error(`FEATURES_DRIVER is in-process, delayed or tcp, not ${name}.`);
}

setWorldConstructor(FeatureWorld);
