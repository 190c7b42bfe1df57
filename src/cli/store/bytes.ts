// Sizes as people read them.

const UNITS = ['KiB', 'MiB', 'GiB'] as const;

/** `17 bytes`, `1.5 KiB`, `20.0 GiB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  const power = Math.min(Math.floor(Math.log2(bytes) / 10), UNITS.length);
  return `${(bytes / 1024 ** power).toFixed(1)} ${UNITS[power - 1]}`;
}
