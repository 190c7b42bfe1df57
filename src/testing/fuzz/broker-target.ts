// Fuzzes a whole broker: hostile connections send the frames of a case, and end. Each must be ended by the broker in its turn, a Ping behind
// intact frames must be answered, and a normal client on another connection must get its answers after every case. When the queues are
// deleted that the frames have made, the broker must hold no more than at the beginning.

import { gunzipSync } from 'node:zlib';
import { Command } from '../../protocol/command.ts';
import type { BodyParts } from '../wire-bytes.ts';
import { framesOf, WireClient } from '../wire-client.ts';
import type { FuzzTarget } from './fuzz-target.ts';
import type { FuzzedBroker } from './fuzzed-broker.ts';
import { splitNaively } from './naive-splitter.ts';
import { NormalClient } from './normal-client.ts';

const MAX_MESSAGE_SIZE_BYTES = 65_536;

export async function brokerTarget(start: () => Promise<FuzzedBroker>): Promise<FuzzTarget> {
  const broker = await start();
  const normal = await NormalClient.connected(broker);
  const heldAtFirst = heldBytes(broker);
  return {
    judge: async (frames) =>
      (await judgeHostile(broker, frames)) ?? (await normal.works()) ?? broker.takeErrors()[0],
    sweep: async () => {
      const complaint = await normal.deleteOtherQueues();
      if (complaint !== undefined) return complaint;
      const isEmpty = await broker.reaches(
        () => heldBytes(broker) <= heldAtFirst && broker.stats().activeConnectionCount === 1,
      );
      if (isEmpty) return undefined;
      const { activeConnectionCount } = broker.stats();
      return `${activeConnectionCount} connections and ${heldBytes(broker)} bytes are held at the end, not 1 and ${heldAtFirst}`;
    },
    close: async () => {
      normal.disconnect();
      await broker.close();
    },
  };
}

const inflate = (flags: number, body: Buffer): Buffer => (flags === 0 ? body : gunzipSync(body));

function heldBytes(broker: FuzzedBroker): number {
  const { queuedBytes, structureBytes, bufferedBytes } = broker.stats();
  return queuedBytes + structureBytes + bufferedBytes;
}

const connect: BodyParts = {
  command: Command.Connect,
  id: 'hostile',
  headers: [['supported-compression', 'gzip']],
};
const sentinel: BodyParts = { command: Command.Ping, id: 'sentinel' };

async function judgeHostile(broker: FuzzedBroker, frames: readonly Buffer[]): Promise<string | undefined> {
  const groups = connectionsOf(frames);
  const clients = await Promise.all(groups.map(async () => new WireClient(await broker.attach(), inflate)));
  for (const [index, client] of clients.entries()) {
    client.sendRaw(Buffer.concat([framesOf(connect), ...(groups[index]?.frames ?? []), framesOf(sentinel)]));
    client.stream.end();
  }
  const isOver = await broker.reaches(() => clients.every((client) => client.isOver));
  const openCount = clients.filter((client) => !client.isOver).length;
  for (const client of clients) client.stream.destroy();
  if (!isOver) return `${openCount} of ${clients.length} hostile connections are not ended by the broker`;
  const unanswered = clients.filter((client, index) => groups[index]?.isIntact && !hasPong(client)).length;
  return unanswered === 0 ? undefined : `${unanswered} connections get no Pong after intact frames`;
}

function hasPong(client: WireClient): boolean {
  return client.take().some(({ command, id }) => command === Command.Pong && id === sentinel.id);
}

type Group = { readonly frames: readonly Buffer[]; readonly isIntact: boolean };

/** The frames of each connection: a frame that may end the connection is the last one of its. */
export function connectionsOf(frames: readonly Buffer[]): readonly Group[] {
  const groups: Group[] = [];
  let frameGroup: Buffer[] = [];
  for (const frame of frames) {
    frameGroup.push(frame);
    if (leavesOpen(frame)) continue;
    groups.push({ frames: frameGroup, isIntact: false });
    frameGroup = [];
  }
  return frameGroup.length === 0 ? groups : [...groups, { frames: frameGroup, isIntact: true }];
}

function leavesOpen(bytes: Buffer): boolean {
  const { frames, end } = splitNaively(bytes, MAX_MESSAGE_SIZE_BYTES);
  return (
    end === 'nothing' && frames.every(({ flags, body }) => flags === 0 && body[1] !== Command.Disconnect)
  );
}
