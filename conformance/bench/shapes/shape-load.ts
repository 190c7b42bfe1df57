// A load with many parties in one process: what is measured is the processor time of the server, and not how fast this process is. Every message
// is confirmed, and delivered as often as the mode says, or the pass fails. Areas: PUBLISH, DELIVERY.
import { LoadFault } from '../../src/bench/load/load-fault.ts';
import type { Address } from '../../src/bench/load/load-link.ts';
import { LoadLink } from '../../src/bench/load/load-link.ts';
import { MessageTemplate } from '../../src/bench/load/message-template.ts';
import { makeQueue } from '../../src/bench/load/queue-commands.ts';
import { Command } from '../../src/wire/command.ts';
import { decodeBody } from '../../src/wire/decode.ts';
import type { FrameView } from '../../src/wire/frame-view.ts';
import type { Shape } from './shape.ts';
import { deliveriesOfOne } from './shape.ts';

const connectAtOnce = 50;
const payloadBytes = 1024;
const prefetch = 256;
const slowEveryMs = 10;
/** How far all publishers together may be ahead of the deliveries, in messages, so that no broker wins by piling up. */
const lead = 4096;
const stallMs = 30_000;

type Pass = {
  /** Not sent yet, of each publisher. */
  readonly left: Map<Party, number>;
  readonly wantedCount: number;
  confirmedCount: number;
  deliveredCount: number;
  readonly end: (fault?: LoadFault) => void;
};

type Role = {
  readonly queue: string;
  readonly publishes: boolean;
  readonly reads: 'no' | 'at once' | 'slowly';
};

export class ShapeLoad {
  readonly shape: Shape;
  readonly #parties: Party[] = [];
  readonly #slowTimer: NodeJS.Timeout;
  #pass: Pass | undefined;

  private constructor(shape: Shape) {
    this.shape = shape;
    this.#slowTimer = setInterval(() => {
      for (const party of this.#parties) party.acknowledgeOne();
    }, slowEveryMs);
  }

  /** Connects all parties, makes the queues and subscribes. Throws a LoadFault. */
  static async open(address: Address, shape: Shape): Promise<ShapeLoad> {
    const load = new ShapeLoad(shape);
    try {
      const roles = rolesOf(shape);
      for (let at = 0; at < roles.length; at += connectAtOnce) {
        const some = roles.slice(at, at + connectAtOnce);
        load.#parties.push(
          ...(await Promise.all(some.map((role, index) => Party.open(load, address, role, at + index)))),
        );
      }
      await load.#subscribe(roles);
      return load;
    } catch (error) {
      load.close();
      throw error;
    }
  }

  /** Publishes `passCount` messages and waits for all confirms and deliveries. Throws a LoadFault. */
  async pass(): Promise<void> {
    const publishers = this.#parties.filter(({ role }) => role.publishes);
    const { passCount } = this.shape;
    const left = new Map(publishers.map((party) => [party, passCount / publishers.length]));
    let timer: NodeJS.Timeout | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        const end = (fault?: LoadFault): void => (fault === undefined ? resolve() : reject(fault));
        const wantedCount = passCount * deliveriesOfOne(this.shape);
        this.#pass = { left, wantedCount, confirmedCount: 0, deliveredCount: 0, end };
        timer = this.#watchStall(this.#pass);
        for (const party of publishers) party.pump();
      });
    } finally {
      clearInterval(timer);
      this.#pass = undefined;
    }
  }

  close(): void {
    clearInterval(this.#slowTimer);
    for (const party of this.#parties) party.close();
  }

  /** How many messages this publisher may still send now. */
  allowance(party: Party, unconfirmedCount: number): number {
    if (this.#pass === undefined) return 0;
    const { left, confirmedCount, deliveredCount } = this.#pass;
    const ahead = confirmedCount - deliveredCount / deliveriesOfOne(this.shape);
    if (ahead >= lead) return 0;
    return Math.min(left.get(party) ?? 0, this.shape.window - unconfirmedCount);
  }

  sent(party: Party): void {
    const left = this.#pass?.left;
    left?.set(party, (left.get(party) ?? 0) - 1);
  }

  confirmed(): void {
    if (this.#pass !== undefined) this.#pass.confirmedCount += 1;
    this.#settle();
  }

  delivered(): void {
    const pass = this.#pass;
    if (pass === undefined) return;
    const wasAhead = pass.confirmedCount - pass.deliveredCount / deliveriesOfOne(this.shape) >= lead;
    pass.deliveredCount += 1;
    if (wasAhead) for (const party of pass.left.keys()) party.pump();
    this.#settle();
  }

  fail(fault: LoadFault): void {
    this.#pass?.end(fault);
  }

  #settle(): void {
    const pass = this.#pass;
    if (pass === undefined || pass.confirmedCount < this.shape.passCount) return;
    if (pass.deliveredCount >= pass.wantedCount) pass.end();
  }

  async #subscribe(roles: readonly Role[]): Promise<void> {
    const [first] = this.#parties;
    if (first === undefined) throw new Error('a shape without parties');
    for (const queue of new Set(roles.map((role) => role.queue)))
      await makeQueue(first.link, queue, { mode: this.shape.mode });
    for (const party of this.#parties) await party.subscribe();
  }

  #watchStall(pass: Pass): NodeJS.Timeout {
    let seen = -1;
    return setInterval(() => {
      const progress = pass.confirmedCount + pass.deliveredCount;
      if (progress === seen) pass.end(new LoadFault(stallText(pass)));
      seen = progress;
    }, stallMs);
  }
}

function stallText({ confirmedCount, deliveredCount, wantedCount }: Pass): string {
  return `nothing came for ${stallMs / 1e3} s: ${confirmedCount} confirmed, ${deliveredCount} of ${wantedCount} delivered`;
}

/** One for each connection. */
function rolesOf(shape: Shape): readonly Role[] {
  const { queueCount, publisherCount, subscriberCount, slowCount, isOneConnection } = shape;
  return Array.from({ length: queueCount }, (_, index) => `shape-${index}`).flatMap((queue): Role[] => {
    if (isOneConnection) return [{ queue, publishes: true, reads: 'at once' }];
    const several = (count: number, role: Omit<Role, 'queue'>): Role[] =>
      Array.from({ length: count }, () => ({ queue, ...role }));
    return [
      ...several(publisherCount, { publishes: true, reads: 'no' }),
      ...several(subscriberCount, { publishes: false, reads: 'at once' }),
      ...several(slowCount, { publishes: false, reads: 'slowly' }),
    ];
  });
}

/** One connection: publishes, subscribes, or both. */
class Party {
  readonly role: Role;
  readonly link: LoadLink;
  readonly #load: ShapeLoad;
  readonly #templates: readonly MessageTemplate[];
  readonly #ack: MessageTemplate;
  /** Ids that a slow subscriber has not acknowledged yet. */
  readonly #held: Buffer[] = [];
  #sentCount = 0;
  #confirmedCount = 0;

  private constructor(load: ShapeLoad, link: LoadLink, role: Role, number: number) {
    this.role = role;
    this.link = link;
    this.#load = load;
    const { priorities } = load.shape;
    const values = priorities.length === 0 ? [{}] : priorities.map((priority) => ({ priority }));
    const options = { queue: role.queue, tag: `party${number}`, payloadBytes };
    this.#templates = values.map((headers) => new MessageTemplate({ ...options, headers }));
    this.#ack = new MessageTemplate(options);
    link.handlers = {
      onFrame: (frame) => this.#handleFrame(frame),
      onRead: () => this.pump(),
      onFault: (fault) => load.fail(fault),
    };
  }

  static async open(load: ShapeLoad, address: Address, role: Role, number: number): Promise<Party> {
    return new Party(load, await LoadLink.open(address), role, number);
  }

  async subscribe(): Promise<void> {
    if (this.role.reads === 'no') return;
    const headers = { maxInFlight: String(prefetch) };
    await this.link.request({ command: Command.Subscribe, queue: this.role.queue, headers });
  }

  /** Sends what the window and the others allow. */
  pump(): void {
    if (!this.role.publishes) return;
    let count = this.#load.allowance(this, this.#sentCount - this.#confirmedCount);
    for (; count > 0; count -= 1) {
      this.#send();
      this.#load.sent(this);
    }
  }

  acknowledgeOne(): void {
    const id = this.#held.shift();
    if (id !== undefined) this.#acknowledge(id);
  }

  close(): void {
    this.link.close();
  }

  #send(): void {
    const template = this.#templates[this.#sentCount % this.#templates.length] ?? this.#ack;
    const at = this.link.out.reserve(template.publishBytes);
    template.writePublish(this.link.out.slab, at, this.#sentCount, 0);
    this.#sentCount += 1;
  }

  #handleFrame(frame: FrameView): void {
    if (frame.command === Command.PublishAck) {
      this.#confirmedCount += 1;
      return this.#load.confirmed();
    }
    if (frame.command === Command.Deliver) return this.#handleDelivery(frame);
    const { commandName, errorCode, errorMessage } = decodeBody(frame.body());
    this.#load.fail(new LoadFault(`${commandName} came: ${errorCode} ${errorMessage}`.trim()));
  }

  #handleDelivery({ bytes, idAt, idBytes }: FrameView): void {
    const id = bytes.subarray(idAt, idAt + idBytes);
    if (this.role.reads === 'slowly') {
      this.#held.push(Buffer.from(id));
      return;
    }
    this.#acknowledge(id);
    this.#load.delivered();
  }

  #acknowledge(id: Uint8Array): void {
    const at = this.link.out.reserve(this.#ack.ackBytes);
    this.#ack.writeAckFor(this.link.out.slab, at, id);
  }
}
