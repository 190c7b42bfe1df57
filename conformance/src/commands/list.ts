// `truemq-conformance list`: lists the checks without running them, all or those that a target would be judged by. One line for each check, or
// JSON. Starts nothing.

import type { Catalogue } from '../catalogue.ts';
import type { ProfileName } from '../catalogue-words.ts';
import { levels, profileNames } from '../catalogue-words.ts';
import type { Check } from '../check.ts';
import type { Flag } from '../cli/flags.ts';
import { oneOf, parseFlags } from '../cli/flags.ts';
import type { Sources } from '../cli/sources.ts';
import type { Terminal } from '../cli/terminal.ts';
import { applicabilityOf } from '../engine/applicability.ts';
import { type SelectionRequest, selectChecks } from '../engine/selection.ts';
import { readTarget } from '../target/target-file.ts';
import { UsageError } from '../usage-error.ts';
import type { ExitCode } from '../verdict.ts';
import { exitCodes } from '../verdict.ts';

export const listFlags: readonly Flag[] = [
  { name: 'target', kind: 'text', value: 'FILE', help: 'only checks that run on this target' },
  {
    name: 'profile',
    kind: 'many',
    value: 'NAME',
    help: 'only checks of these profiles (default: full; with --target, those that it claims)',
  },
  { name: 'level', kind: 'text', value: 'LEVEL', help: 'the lowest level: MUST, SHOULD or MAY (default)' },
  {
    name: 'only',
    kind: 'many',
    value: 'PATTERN',
    help: 'only these: an area, a requirement or a check, * allowed',
  },
  { name: 'skip', kind: 'many', value: 'PATTERN', help: 'all but these' },
  { name: 'json', kind: 'boolean', help: 'as a JSON array' },
];

export function listCommand(args: readonly string[], { catalogue }: Sources, terminal: Terminal): ExitCode {
  const flags = parseFlags(args, listFlags);
  const [stray] = flags.positionals;
  if (stray !== undefined)
    throw new UsageError(`list takes no argument, ${stray} came; list --only ${stray}`);
  const request = {
    profiles: [...new Set(flags.many('profile'))].map((name) => oneOf('profile', name, profileNames, 'core')),
    level: oneOf('level', flags.text('level')?.toUpperCase(), levels, 'MAY'),
    only: flags.many('only'),
    skip: flags.many('skip'),
  };
  const targetPath = flags.text('target');
  const checks =
    targetPath === undefined ? namedChecks(catalogue, request) : checksOn(targetPath, catalogue, request);
  const rows = [...checks]
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map((check) => ({
      id: check.id,
      level: catalogue.levelOf(check),
      profile: check.profile,
      title: check.title,
    }));
  if (flags.boolean('json')) terminal.out(JSON.stringify(rows, null, 2));
  else
    for (const row of rows)
      terminal.out(`${row.id.padEnd(14)}${row.level.padEnd(8)}${row.profile.padEnd(15)}${row.title}`);
  return exitCodes.open;
}

/** A named check is listed whatever its profile is. */
function namedChecks(catalogue: Catalogue, request: SelectionRequest): readonly Check[] {
  const listed: readonly ProfileName[] = request.only.length === 0 ? ['full'] : ['full', 'model'];
  return selectChecks(catalogue, request, listed).checks;
}

/** Those that a run selects, without the ones that it could not run or that do not apply. */
function checksOn(targetPath: string, catalogue: Catalogue, request: SelectionRequest): readonly Check[] {
  const target = readTarget(targetPath);
  const { checks, claimed } = selectChecks(catalogue, request, target.profiles);
  return checks.filter(
    (check) => applicabilityOf(check, catalogue.levelOf(check), target, claimed).kind === 'run',
  );
}
