// Compression as two sides agree on it.

import assert from 'node:assert/strict';
import { Command } from '../../src/protocol/command.ts';
import type { Algorithm } from '../../src/protocol/compression.ts';
import { encodeBody, frameOf } from '../../src/protocol/encode.ts';
import { HeaderName } from '../../src/protocol/header-name.ts';
import { compress } from './client.ts';
import { sendBytes } from './frames.ts';
import type { FeatureWorld } from './world.ts';

/** Connects with that list of algorithms. */
export async function connectOffering(world: FeatureWorld, label: string, offered: string): Promise<void> {
  await world.connect(label, new Map([[HeaderName.SupportedCompression, offered]]));
}

/** What the ConnectAck of that client said. */
export function assertAgreed(world: FeatureWorld, label: string, expected: string | undefined): void {
  const connectAck = world.connectAcks.get(label) ?? assert.fail(`${label} is not connected`);
  assert.equal(connectAck.headers.get(HeaderName.NegotiatedCompression), expected);
}

export async function sendCompressedPing(
  world: FeatureWorld,
  label: string,
  { id, algorithm }: { readonly id: string; readonly algorithm: Algorithm },
): Promise<void> {
  const body = encodeBody({ command: Command.Ping, id });
  await sendBytes(world, label, frameOf(compress(algorithm, body), algorithm));
}
