// The data of a chart in the form that uPlot wants: one list for the times in seconds, one for each line. Pure.

export type Line = readonly (number | null | undefined)[];
/** Times first. */
export type ChartData = readonly [readonly number[], ...Line[]];

/** How much of the past a chart shows. */
export const CHART_SPAN_MS = 15 * 60_000;

/** `at` in milliseconds since 1970. */
export function chartData(at: readonly (number | null)[], lines: readonly Line[]): ChartData {
  return [at.map((each) => (each ?? 0) / 1000), ...lines.map((line) => [...line])];
}

/**
 * The line with its short gaps closed: uPlot draws through undefined and interrupts the line at null. Without this, a queue with a message every other
 * second has a latency made of dots.
 */
export function withoutShortGaps(line: readonly (number | null)[], maxLength: number): Line {
  const result: (number | null | undefined)[] = [...line];
  let gapStart = -1;
  line.forEach((value, index) => {
    if (value === null) return;
    const length = index - gapStart - 1;
    if (gapStart >= 0 && length <= maxLength) result.fill(undefined, gapStart + 1, index);
    gapStart = index;
  });
  return result;
}

/** What the horizontal axis shows, in seconds: up to the last time, or up to now (milliseconds since 1970) while there is none. */
export function timeRange(times: ArrayLike<number>, now: number): [min: number, max: number] {
  const end = times[times.length - 1] ?? now / 1000;
  return [end - CHART_SPAN_MS / 1000, end];
}

/** The largest value that a vertical axis must reach: never less than `least`, so that a line of zeros lies at the bottom. */
export function axisTop(lines: readonly Line[], least: number): number {
  let top = least;
  for (const line of lines)
    for (const value of line) if (value !== null && value !== undefined && value > top) top = value;
  return top;
}
