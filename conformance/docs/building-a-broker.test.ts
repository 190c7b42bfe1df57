// The page about the order in which to build a broker names checks that exist, for the profiles that they belong to.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { checks } from '../src/checks/index.ts';

const page = readFileSync(new URL('building-a-broker.md', import.meta.url), 'utf8');
const [steps = '', profiles = ''] = page.split('## The profiles after core');
const rows = [...profiles.matchAll(/^\| `([a-z-]+)` \|.*$/gm)].map(([row, profile]) => ({
  profile: String(profile),
  ids: idsIn(row),
}));

function idsIn(text: string): readonly string[] {
  return text.match(/\b[A-Z]+-\d{3}[a-z]\b/g) ?? [];
}

/** The checks of a profile that a pattern without `*` selects: an area, a requirement or a check. */
function selected(profile: string, pattern: string): readonly string[] {
  return checks
    .filter((check) => check.profile === profile)
    .map((check) => check.id)
    .filter((id) => [id, id.slice(0, -1), id.replace(/-\d+.$/, '')].includes(pattern));
}

describe('the order in which to build a broker', () => {
  it('has a row for each profile with checks, after core', () => {
    const withChecks = new Set(checks.map((check) => check.profile));
    expect(new Set(['core', ...rows.map((row) => row.profile)])).toEqual(withChecks);
  });

  it('names checks of their profile only', () => {
    expect(idsIn(steps).length).toBeGreaterThan(10);
    for (const id of idsIn(steps)) expect(selected('core', id), id).toEqual([id]);
    for (const { profile, ids } of rows)
      for (const id of ids) expect(selected(profile, id), `${profile} ${id}`).toEqual([id]);
  });

  it('shows commands whose every pattern selects something', () => {
    const commands = page.match(/^truemq-conformance run .*$/gm) ?? [];
    expect(commands.length).toBeGreaterThan(5);
    for (const command of commands) {
      const profile = /--profile (\S+)/.exec(command)?.[1] ?? 'core';
      for (const [, pattern = ''] of command.matchAll(/--only (\S+)/g))
        expect(selected(profile, pattern), `${pattern} in: ${command}`).not.toEqual([]);
    }
  });
});
