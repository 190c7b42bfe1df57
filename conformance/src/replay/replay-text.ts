// The text of a replay: the events of the trace in order, and below each that went otherwise what happened now. Long stretches without a
// difference are left out. Pure.
import { countText } from '../count-text.ts';
import { eventLine } from '../report/console.ts';
import { visibleLine } from '../report/visible-text.ts';
import type { Target } from '../target/target-file.ts';
import type { TraceFile } from '../trace-file.ts';
import type { Replay, ReplayedEvent } from './replay.ts';

/** So many events before a difference are shown. */
const shownBefore = 5;

/** How many events went otherwise, and how many frames came that the trace does not show. */
export function differenceCount({ events, additional }: Replay): number {
  return events.filter(isDifferent).length + additional.length;
}

export function replayLines(
  { trace, target }: { readonly trace: TraceFile; readonly target: Target },
  replayed: Replay,
  { all }: { readonly all: boolean },
): readonly string[] {
  const { additional, omittedHttpCount } = replayed;
  const http = countText(omittedHttpCount, 'HTTP event');
  const redactedCount = sentRedactedCount(trace);
  const count = differenceCount(replayed);
  return [
    ...headLines(trace),
    '',
    ...eventLines(replayed.events, all),
    ...additional.map(({ connection, text }) => `!  left over: ${connection} <- ${visibleLine(text)}`),
    '',
    ...(omittedHttpCount === 0 ? [] : [`note: ${http} of the trace not repeated`]),
    ...(redactedCount === 0
      ? []
      : [`note: ${countText(redactedCount, 'frame')} sent with what redactions had blacked out`]),
    count === 0
      ? `${target.name}: ${countText(replayed.events.length, 'event')}, all as in the trace`
      : `${target.name}: ${countText(count, 'difference')} to the trace`,
  ];
}

/** How many events of the trace were sent with bytes that are not those of the check. */
function sentRedactedCount({ events }: TraceFile): number {
  return events.filter(({ kind, redacted }) => kind === 'sent' && redacted === true).length;
}

function headLines({ check, title, outcome, reason, target }: TraceFile): readonly string[] {
  const who = `${target.name} ${target.version ?? ''}`.trimEnd();
  return [
    `${check} ${visibleLine(title)}`,
    `the trace: ${visibleLine(who)}, ${outcome}${reason === undefined ? '' : `: ${visibleLine(reason)}`}`,
  ];
}

function eventLines(events: readonly ReplayedEvent[], all: boolean): readonly string[] {
  const lines: string[] = [];
  let leftOut = 0;
  for (const [index, replayed] of events.entries()) {
    const isShown = all || events.slice(index, index + shownBefore + 1).some(isDifferent);
    if (!isShown) {
      leftOut += 1;
      continue;
    }
    if (leftOut > 0) lines.push(leftOutLine(leftOut));
    leftOut = 0;
    lines.push(...linesOf(replayed));
  }
  return leftOut === 0 ? lines : [...lines, leftOutLine(leftOut)];
}

function leftOutLine(count: number): string {
  return `   (${countText(count, 'event')} as in the trace)`;
}

function linesOf({ event, now }: ReplayedEvent): readonly string[] {
  return now === undefined
    ? [`   ${eventLine(event)}`]
    : [`!  ${eventLine(event)}`, `   now: ${visibleLine(now)}`];
}

function isDifferent({ now }: ReplayedEvent): boolean {
  return now !== undefined;
}
