// Kills a broker again and again while it is under load, starts it on what it has left, and at the end empties it and draws up the
// account. When it dies is drawn from a seed, in confirmed publishes; where in a commit that falls is up to the machine.
// Implements DURABLE-003 to DURABLE-006 and DURABLE-015 against a real process and a real file.

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from '../../client/index.ts';
import { newFolder } from '../../storage/contract/file-place.ts';
import { Random } from '../simulation/random.ts';
import { startBrokerProcess } from './broker-process.ts';
import { CrashLedger } from './crash-ledger.ts';
import { askUntilGone, createQueues, heldCount, publishUntilGone, subscriber } from './load.ts';

export type CrashPlan = {
  readonly crashCount: number;
  readonly seed: number;
  /** A life ends after at most so many confirmed publishes. */
  readonly maxConfirmed: number;
  /** Told what has happened after each life of the broker. */
  readonly onCrash?: (told: string) => void;
};

/** The ledger after that many crashes, every queue emptied. */
export async function crashAgainAndAgain({
  crashCount,
  seed,
  maxConfirmed,
  onCrash = () => undefined,
}: CrashPlan): Promise<CrashLedger> {
  const random = new Random(seed);
  const folder = await newFolder();
  const path = join(folder, 'q.db');
  const ledger = new CrashLedger();
  for (let life = 1; life <= crashCount; life += 1) {
    await liveUntilKilled(path, ledger, { life, enough: random.whole(1, maxConfirmed) });
    onCrash(`life ${life}: ${ledger.confirmedCount} confirmed, ${ledger.settledCount} settled so far`);
  }
  await empty(path, ledger);
  await rm(folder, { recursive: true });
  return ledger;
}

async function liveUntilKilled(
  path: string,
  ledger: CrashLedger,
  { life, enough }: { readonly life: number; readonly enough: number },
): Promise<void> {
  const broker = await startBrokerProcess(path);
  await createQueues(broker.port);
  // Every third life nobody subscribes, so that a backlog grows.
  const taker = life % 3 === 0 ? undefined : await subscriber(broker.port, ledger);
  let killed: Promise<void> = Promise.resolve();
  const onEnough = () => {
    killed = broker.kill();
  };
  const publishing = publishUntilGone(broker.port, ledger, { life, enough, onEnough });
  if (taker !== undefined) await askUntilGone(taker);
  await publishing;
  await killed;
}

async function empty(path: string, ledger: CrashLedger): Promise<void> {
  const broker = await startBrokerProcess(path);
  const watcher = await connect({ port: broker.port, reconnect: false });
  const taker = await subscriber(broker.port, ledger);
  while ((await heldCount(watcher, broker.healthUrl)) > 0);
  await taker.close();
  await watcher.close();
  const code = await broker.stop();
  if (code !== 0) throw new Error(`The broker ended with ${code}.`);
}
