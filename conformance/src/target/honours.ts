// Which settings of a configuration a target honours. An adapter gets all settings and reports the unsupported ones; for hooks the target
// file lists the honoured ones; an attached broker honours none. Pure. Areas: LIMIT, RETRY.
import type { ConfigurationRequest } from '../configuration.ts';
import type { Target } from './target-file.ts';

/** `name`: dotted, as in an adapter's `unsupported`: `timing.ackTimeoutMs`. */
export function honoursSetting(lifecycle: Target['lifecycle'], name: string): boolean {
  switch (lifecycle.kind) {
    case 'spawn':
      return true;
    case 'attach':
      return false;
    case 'hooks':
      return (lifecycle.honours ?? []).some(
        (honoured) => honoured === name || name.startsWith(`${honoured}.`),
      );
  }
}

/** The settings of a request that the target honours. */
export function honouredPart(
  request: ConfigurationRequest,
  lifecycle: Target['lifecycle'],
): ConfigurationRequest {
  const groups: readonly (readonly [string, unknown])[] = Object.entries(request);
  return Object.fromEntries(
    groups.flatMap(([group, value]) => {
      if (typeof value !== 'object' || value === null)
        return honoursSetting(lifecycle, group) ? [[group, value] as const] : [];
      const kept = Object.entries(value).filter(([name]) => honoursSetting(lifecycle, `${group}.${name}`));
      return kept.length === 0 ? [] : [[group, Object.fromEntries(kept)] as const];
    }),
  );
}
