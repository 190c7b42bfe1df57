// The two ways to show the table of a live feed: on a terminal until the user quits, or once as plain text. Resolves with why it failed, or with
// nothing.

import type { Writable } from 'node:stream';
import type { Environment } from '../../model/environment.ts';
import type { CommandContext, Terminal } from '../command.ts';
import type { StreamEnd } from './event-request.ts';
import { frameOf, pageRowsOf, plainLines } from './frame.ts';
import { type FeedParts, LiveFeed } from './live-feed.ts';
import { TerminalScreen } from './screen.ts';
import type { SortKey } from './sorting.ts';
import { firstView, viewAfter } from './view.ts';

export type WatchParts = {
  readonly open: FeedParts['open'];
  /** For the first line. */
  readonly url: string;
  readonly sortKey: SortKey;
  readonly environment: Pick<Environment, 'clock' | 'scheduler'>;
  readonly onStopSignal: CommandContext['onStopSignal'];
  readonly onHangup: CommandContext['onHangup'];
};

/** How often the screen says anew for how long there is no connection. */
const TICK_MS = 1_000;

/** Prints the table after the first change: the rates of a snapshot may not be there yet. Undefined: done, or stopped by a signal. */
export async function printOnce(
  { open, url, sortKey, environment, onStopSignal }: WatchParts,
  stdout: Writable,
): Promise<StreamEnd | undefined> {
  return untilEnd(onStopSignal, (finish) => {
    const feed: LiveFeed = new LiveFeed({
      open,
      ...environment,
      onUpdate: (isChange) => {
        if (feed.lost !== undefined) return finish({ reason: feed.lost.reason, asksForCredentials: false });
        if (!isChange || feed.table === undefined) return;
        const lines = plainLines(feed.table, firstView(sortKey), { url });
        stdout.write(`${lines.join('\n')}\n`, () => finish(undefined));
      },
      onFailure: finish,
    });
    return () => feed.close();
  });
}

/** Shows the table on the terminal. Nothing is drawn before the first snapshot, so that a first failure is an ordinary message. */
export async function watch(
  { open, url, sortKey, environment, onStopSignal, onHangup }: WatchParts,
  terminal: Terminal,
  hasColor: boolean,
): Promise<StreamEnd | undefined> {
  return untilEnd(onStopSignal, (finish, fail) => {
    let view = firstView(sortKey);
    const guarded = (task: () => void) => () => {
      try {
        task();
      } catch (error) {
        fail(error);
      }
    };
    const draw = guarded(() => {
      if (feed.table === undefined) return;
      screen ??= newScreen();
      const frame = frameOf(feed.table, view, { url, lost: feed.lost }, screen.size);
      view = frame.view;
      screen.draw(frame.lines);
    });
    const newScreen = () =>
      new TerminalScreen(terminal, hasColor, {
        onKey: (key) => {
          const next = viewAfter(view, key, pageRowsOf(screen?.size ?? { height: 0 }));
          if (next === undefined) return finish(undefined);
          view = next;
          draw();
        },
        onResize: draw,
        onEnd: () => finish(undefined),
      });
    let screen: TerminalScreen | undefined;
    const feed: LiveFeed = new LiveFeed({ open, ...environment, onUpdate: draw, onFailure: finish });
    const stopTicking = tick(environment, () => feed.lost !== undefined && draw());
    const releaseHangup = onHangup(() => finish(undefined));
    return () => {
      releaseHangup();
      stopTicking();
      feed.close();
      screen?.close();
    };
  });
}

type Finish = (end: StreamEnd | undefined) => void;

/** Runs until `start` finishes or fails or a signal arrives; then calls what `start` returned. */
async function untilEnd(
  onStopSignal: CommandContext['onStopSignal'],
  start: (finish: Finish, fail: (error: unknown) => void) => () => void,
): Promise<StreamEnd | undefined> {
  let stop: () => void = () => undefined;
  let release: () => void = () => undefined;
  try {
    return await new Promise<StreamEnd | undefined>((resolve, reject) => {
      release = onStopSignal(() => resolve(undefined));
      stop = start(resolve, reject);
    });
  } finally {
    release();
    stop();
  }
}

function tick({ scheduler }: Pick<Environment, 'scheduler'>, task: () => void): () => void {
  let cancel = scheduler.after(TICK_MS, next);
  function next(): void {
    task();
    cancel = scheduler.after(TICK_MS, next);
  }
  return () => cancel();
}
