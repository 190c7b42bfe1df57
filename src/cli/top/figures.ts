// Figures in few characters, for the cells of a table.

const UNITS = ['', 'k', 'M', 'G', 'T', 'P'] as const;

/** A count in at most seven characters: all digits as long as they fit. */
export function countText(count: number): string {
  return count < 10_000_000 ? String(Math.round(count)) : scaled(count, 1000, UNITS);
}

/** A rate per second: with a fraction only when it is small. */
export function rateText(rate: number): string {
  return rate > 0 && rate < 9.95 ? rate.toFixed(1) : countText(rate);
}

/** A size: `512 B`, `34.1 MiB`. */
export function bytesText(bytes: number): string {
  const units = UNITS.map((unit) => (unit === '' ? ' B' : ` ${unit === 'k' ? 'K' : unit}iB`));
  return scaled(bytes, 1024, units);
}

/** A duration in its two largest units: `12s`, `5m03s`, `2h15m`, `3d04h`. */
export function ageText(durationMs: number): string {
  const seconds = Math.max(0, Math.floor(durationMs / 1000));
  const [minutes, hours, days] = [
    Math.floor(seconds / 60),
    Math.floor(seconds / 3600),
    Math.floor(seconds / 86_400),
  ];
  if (days >= 100) return `${days}d`;
  if (days > 0) return `${days}d${twoDigits(hours % 24)}h`;
  if (hours > 0) return `${hours}h${twoDigits(minutes % 60)}m`;
  return minutes > 0 ? `${minutes}m${twoDigits(seconds % 60)}s` : `${seconds}s`;
}

/** A latency; null: there was none. */
export function latencyText(latencyMs: number | null): string {
  if (latencyMs === null) return '-';
  if (latencyMs >= 9_950) return `${Math.round(latencyMs / 1000)} s`;
  if (latencyMs >= 995) return `${(latencyMs / 1000).toFixed(1)} s`;
  return `${latencyMs < 9.95 ? latencyMs.toFixed(1) : Math.round(latencyMs)} ms`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

function scaled(value: number, step: number, units: readonly string[]): string {
  let index = 0;
  let rest = value;
  for (; rest >= step && index < units.length - 1; index += 1) rest /= step;
  return `${index > 0 && rest < 99.95 ? rest.toFixed(1) : Math.round(rest)}${units[index]}`;
}
