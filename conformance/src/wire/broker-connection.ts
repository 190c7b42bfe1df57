// Implements the Connection of the checks: adds to a link the commands of the protocol, each with its positive answer.
// Areas: CONN, QUEUE, PUBLISH, DELIVERY.
import type {
  CloseKind,
  Connection,
  FramePattern,
  PublishOptions,
  SendOptions,
  WaitOptions,
} from '../connection.ts';
import { display, ExpectationFailure } from '../expectation.ts';
import { frameText } from '../trace.ts';
import { answerRule, handshakeRule } from './check-traffic.ts';
import type { AdminCommandName, CommandName } from './command.ts';
import { adminCommands, Command, commandName } from './command.ts';
import type { FrameFields, ReceivedFrame } from './frame.ts';
import { patternMatches, patternText } from './inbox.ts';
import type { ConnectionSetting } from './link.ts';
import { Link } from './link.ts';

export class BrokerConnection extends Link implements Connection {
  #connectAck: ReceivedFrame | undefined;

  get connectAck(): ReceivedFrame {
    if (this.#connectAck !== undefined) return this.#connectAck;
    throw new ExpectationFailure('this connection has completed its handshake', {
      expected: 'ConnectAck',
      actual: 'no ConnectAck',
    });
  }

  /** Sends Connect and takes the next frame, whatever its id, as existing clients do. */
  async handshake(headers: FrameFields['headers']): Promise<void> {
    await this.send({ command: Command.Connect, id: this.setting.nextId(), ...withHeaders(headers) });
    const reliesOn = handshakeRule(headers);
    const withinMs = this.#answerMs(Command.Connect, headers);
    const answer = await this.take(() => true, { what: 'ConnectAck', reliesOn: () => reliesOn, withinMs });
    if (answer.command !== Command.ConnectAck) throw unexpected('ConnectAck', answer, reliesOn);
    this.#connectAck = answer;
    this.canPing = true;
  }

  /** Transfers the TCP connection to another check, which sees only its handshake. This object cannot reach the broker afterwards. */
  transferTo(setting: ConnectionSetting): BrokerConnection {
    setting.evidence.count('frames');
    return this.#transfer(setting, [this.connectAck]);
  }

  /** Transfers the TCP connection to a new object, so that the check that used it cannot reach the broker any more. */
  detach(): BrokerConnection {
    return this.#transfer(this.setting, this.received);
  }

  #transfer(setting: ConnectionSetting, past: readonly ReceivedFrame[]): BrokerConnection {
    const next = new BrokerConnection(this.releaseStream(), setting, past);
    next.#connectAck = this.#connectAck;
    return next;
  }

  /** Waits for pending answers and ends all subscriptions; true if another check can use the connection afterwards. */
  async prepareForReuse(): Promise<boolean> {
    try {
      // The Pong comes after the answers to all earlier commands.
      await this.ping();
      for (const queue of this.#subscribedQueues()) await this.unsubscribe(queue);
      await this.ping();
      return !this.isClosed && this.isBetweenFrames;
    } catch {
      return false;
    }
  }

  async expect(pattern: FramePattern, options: WaitOptions = {}): Promise<ReceivedFrame> {
    const what = options.what ?? patternText(pattern);
    const reliesOn = (): string | undefined => this.#relianceOf(pattern);
    const frame = await this.take((candidate) => patternMatches(pattern, candidate), {
      ...options,
      what,
      reliesOn,
    });
    this.setting.evidence.addPreparation(options.clause);
    return frame;
  }

  async expectOrClosed(pattern: FramePattern, options: WaitOptions = {}): Promise<ReceivedFrame | CloseKind> {
    const what = options.what ?? `${patternText(pattern)}, or the end of the connection`;
    const result = await this.takeOrClosed((frame) => patternMatches(pattern, frame), { ...options, what });
    this.setting.evidence.addPreparation(options.clause);
    return result;
  }

  next(options: WaitOptions = {}): Promise<ReceivedFrame> {
    return this.take(() => true, { what: 'a frame', ...options });
  }

  /** An Error should carry the id of its command, but need not: one with an unknown id answers the oldest pending request. */
  async request(fields: FrameFields, options: WaitOptions & SendOptions = {}): Promise<ReceivedFrame> {
    const what = `the answer to ${commandName(fields.command)} ${fields.id}`;
    const isAnswer = (frame: ReceivedFrame): boolean =>
      frame.command === Command.Error
        ? frame.id === fields.id || !this.hasSent(frame.id)
        : frame.id === fields.id && frame.command !== Command.Deliver;
    await this.send(fields, options);
    const withinMs = this.#answerMs(fields.command);
    return this.#answer(isAnswer, { what, reliesOn: () => answerRule(fields.command), withinMs, ...options });
  }

  async ping(options: WaitOptions = {}): Promise<ReceivedFrame> {
    const id = this.setting.nextId();
    await this.send({ command: Command.Ping, id });
    return this.#answer((frame) => frame.command === Command.Pong && frame.id === id, {
      what: 'Pong',
      reliesOn: () => (this.#connectAck === undefined ? 'CONN-018' : answerRule(Command.Ping)),
      ...options,
    });
  }

  /** Takes the answer to a command, and measures how long the broker took for it. */
  async #answer(...wait: Parameters<BrokerConnection['take']>): Promise<ReceivedFrame> {
    const { now, evidence } = this.setting;
    const sentAt = now();
    const answer = await this.take(...wait);
    evidence.addAnswerTime(now() - sentAt);
    return answer;
  }

  async expectNothingBeforePong(pattern: FramePattern, what: string, clause?: string): Promise<void> {
    const pong = await this.ping();
    const earlier = this.untaken.filter((frame) => frame.sequence < pong.sequence);
    this.#failOnMatch(earlier, pattern, what, clause);
  }

  async expectSilence(pattern: FramePattern, forMs: number, what: string, clause?: string): Promise<void> {
    await this.waitInSilence(forMs);
    this.#failOnMatch(this.untaken, pattern, what, clause);
  }

  publish(queue: string, payload?: string | Buffer, options: PublishOptions = {}): Promise<ReceivedFrame> {
    const id = options.id ?? this.setting.nextId();
    const content = payload === undefined ? {} : { payload };
    return this.#command(
      { command: Command.Publish, id, queue, ...content, ...withHeaders(options.headers) },
      options,
    );
  }

  subscribe(
    queue: string,
    options: { readonly headers?: FrameFields['headers'] } = {},
  ): Promise<ReceivedFrame> {
    return this.#command({ ...this.#fields('Subscribe', queue), ...withHeaders(options.headers) });
  }

  unsubscribe(queue: string): Promise<ReceivedFrame> {
    return this.#command(this.#fields('Unsubscribe', queue));
  }

  createQueue(queue: string, options?: Readonly<Record<string, unknown>>): Promise<ReceivedFrame> {
    const content = options === undefined ? {} : { payload: JSON.stringify(options) };
    return this.#command({ ...this.#fields('CreateQueue', queue), ...content });
  }

  deleteQueue(queue: string): Promise<ReceivedFrame> {
    return this.#command(this.#fields('DeleteQueue', queue));
  }

  async queueInfo(queue: string): Promise<Readonly<Record<string, unknown>> | undefined> {
    const info = (await this.#command(this.#fields('QueueInfo', queue))).json();
    if (info === undefined || isRecord(info)) return info;
    throw new ExpectationFailure('queue info is an object', {
      expected: 'a JSON object',
      actual: display(info),
      reliesOn: answerRule(Command.QueueInfo),
      possibleCauses: ['QUEUE-024'],
    });
  }

  async listQueues(): Promise<readonly string[]> {
    const names = (await this.#command(this.#fields('ListQueues', ''))).json();
    if (Array.isArray(names) && names.every((name): name is string => typeof name === 'string')) return names;
    throw new ExpectationFailure('ListQueues answers with queue names', {
      expected: 'a JSON array of strings',
      actual: display(names),
      reliesOn: answerRule(Command.ListQueues),
    });
  }

  async admin(command: AdminCommandName, payload?: Readonly<Record<string, unknown>>): Promise<unknown> {
    const content = payload === undefined ? {} : { payload: JSON.stringify(payload) };
    const fields = { command: Command[command], id: this.setting.nextId(), ...content };
    return (await this.#command(fields)).json();
  }

  delivery(
    match: { readonly queue?: string; readonly id?: string } = {},
    options: WaitOptions = {},
  ): Promise<ReceivedFrame> {
    return this.expect(
      { command: 'Deliver', ...match },
      { withinMs: this.setting.timing.deliveryMs, ...options },
    );
  }

  ack(
    delivery: Pick<ReceivedFrame, 'id' | 'queue'>,
    options: { readonly withQueue?: boolean } = {},
  ): Promise<void> {
    const queue = options.withQueue === true ? { queue: delivery.queue } : {};
    return this.send({ command: Command.Ack, id: delivery.id, ...queue });
  }

  disconnect(): Promise<void> {
    return this.send({ command: Command.Disconnect, id: this.setting.nextId() });
  }

  /** The deadline for an answer: longer if a password is checked or set. */
  #answerMs(command: number, headers: FrameFields['headers'] = {}): number {
    const { answerMs, passwordMs } = this.setting.timing;
    const hasPassword = passwordCommands.has(command) || handshakeRule(headers) === 'AUTH-005';
    return hasPassword ? passwordMs : answerMs;
  }

  /** The queues with a SubscribeAck and no later UnsubscribeAck. */
  #subscribedQueues(): ReadonlySet<string> {
    const queues = new Set<string>();
    for (const { command, queue } of this.received) {
      if (command === Command.SubscribeAck) queues.add(queue);
      if (command === Command.UnsubscribeAck) queues.delete(queue);
    }
    return queues;
  }

  async #command(fields: FrameFields, options: SendOptions = {}): Promise<ReceivedFrame> {
    const answer = await this.request(fields, options);
    const wanted = positiveAnswers.get(fields.command);
    if (answer.command === wanted) return answer;
    throw unexpected(commandName(wanted ?? fields.command), answer, answerRule(fields.command));
  }

  /** The requirement by which a matching frame must come: that of an answer, or of a delivery. */
  #relianceOf(pattern: FramePattern): string | undefined {
    const { command, ...match } = typeof pattern === 'object' ? pattern : { command: pattern };
    if (typeof command === 'function') return undefined;
    const names = command === undefined ? [] : [command].flat();
    if (names.includes('Deliver')) return this.setting.traffic?.ofDelivery(this.name, match);
    const exchange = [...positiveAnswers].find(([, answer]) =>
      names.includes(commandName(answer) as CommandName),
    );
    return exchange === undefined ? undefined : answerRule(exchange[0]);
  }

  #fields(
    command: 'Subscribe' | 'Unsubscribe' | 'CreateQueue' | 'DeleteQueue' | 'QueueInfo' | 'ListQueues',
    queue: string,
  ): FrameFields {
    return { command: Command[command], id: this.setting.nextId(), queue };
  }

  #failOnMatch(
    frames: readonly ReceivedFrame[],
    pattern: FramePattern,
    what: string,
    clause: string | undefined,
  ): void {
    this.setting.evidence.addAssertion(clause);
    const found = frames.find((frame) => patternMatches(pattern, frame));
    if (found === undefined) return;
    throw new ExpectationFailure(what, {
      expected: `no ${patternText(pattern)}`,
      actual: frameText(found),
      clause,
    });
  }
}

const positiveAnswers: ReadonlyMap<number, number> = new Map([
  [Command.Publish, Command.PublishAck],
  [Command.Subscribe, Command.SubscribeAck],
  [Command.Unsubscribe, Command.UnsubscribeAck],
  [Command.CreateQueue, Command.CreateQueue],
  [Command.DeleteQueue, Command.DeleteQueue],
  [Command.QueueInfo, Command.QueueInfo],
  [Command.ListQueues, Command.ListQueues],
  [Command.Ping, Command.Pong],
  ...adminCommands.map((name) => [Command[name], Command[name]] as const),
]);

/** Each of them sets a password, or waits for an earlier one that does. */
const passwordCommands: ReadonlySet<number> = new Set(adminCommands.map((name) => Command[name]));

function unexpected(wanted: string, answer: ReceivedFrame, reliesOn: string | undefined): ExpectationFailure {
  return new ExpectationFailure(`the answer is ${wanted}`, {
    expected: wanted,
    actual: frameText(answer),
    reliesOn,
  });
}

function withHeaders(headers: FrameFields['headers']): Pick<FrameFields, 'headers'> {
  return headers === undefined ? {} : { headers };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
