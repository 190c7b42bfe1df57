// `truemq-conformance explain ID`: shows the requirements of a check, the outcomes that it accepts, and the planted faults that it detects.
// For a requirement or an area it shows all its checks.
import type { Catalogue } from '../catalogue.ts';
import type { Check } from '../check.ts';
import { parseFlags } from '../cli/flags.ts';
import type { Sources } from '../cli/sources.ts';
import type { Terminal } from '../cli/terminal.ts';
import { patternFits } from '../engine/selection.ts';
import type { PlantedFault } from '../suite-data.ts';
import { didYouMean, UsageError } from '../usage-error.ts';
import type { ExitCode } from '../verdict.ts';
import { exitCodes } from '../verdict.ts';

export function explainCommand(
  args: readonly string[],
  { catalogue, faults = [] }: Sources,
  terminal: Terminal,
): ExitCode {
  const { positionals } = parseFlags(args, []);
  const [id] = positionals;
  if (id === undefined || positionals.length > 1)
    throw new UsageError('explain needs one id: explain FRAME-004a');
  const checks = catalogue.checks.filter((check) => patternFits(id, check));
  if (checks.length === 0) throw new UsageError(unknownText(id, catalogue));
  for (const line of checks.flatMap((check) => [...checkLines(check, catalogue, faults), '']))
    terminal.out(line);
  return exitCodes.open;
}

function unknownText(id: string, catalogue: Catalogue): string {
  const requirement = catalogue.requirement(id.toUpperCase());
  if (requirement !== undefined) return `no check covers ${requirement.id}: ${requirement.sentence}`;
  return didYouMean(
    `no check or requirement is called ${id}`,
    id,
    catalogue.checks.map((check) => check.id),
  );
}

function checkLines(check: Check, catalogue: Catalogue, faults: readonly PlantedFault[]): readonly string[] {
  return [
    `${check.id} ${check.title}`,
    `  ${catalogue.levelOf(check)}, profile ${check.profile}, isolation ${check.isolation ?? 'shared'}`,
    ...check.clauses.flatMap((clause) => clauseLines(clause, catalogue)),
    ...(check.accepts ?? []).map((accepted) => `  accepted: ${accepted}`),
    ...requirementLines(check),
    `  evidence: ${evidenceText(check)}`,
    ...killerLines(check.id, faults),
    `  again: truemq-conformance run --target FILE --profile ${check.profile} --only ${check.id}`,
  ];
}

function clauseLines(clause: string, catalogue: Catalogue): readonly string[] {
  const requirement = catalogue.requirement(clause);
  if (requirement === undefined) return [];
  const lines = [`  ${clause} (${requirement.level}): ${requirement.sentence}`];
  if (requirement.why !== undefined) lines.push(`    why: ${requirement.why}`);
  lines.push(...(requirement.alternatives ?? []).map((alternative) => `    also right: ${alternative}`));
  return lines;
}

const isolationTexts = {
  fresh: 'its own broker, so it could not run on an attached one',
  restart: 'to stop and start the broker, so it could not run on an attached one',
} as const;

function requirementLines({ requires, isolation, sharesAttached, waits }: Check): readonly string[] {
  const lines: string[] = [];
  if (sharesAttached === true) lines.push('  gets its own broker, but shares an attached one');
  else if (isolation !== undefined && isolation !== 'shared')
    lines.push(`  needs ${isolationTexts[isolation]}`);
  if (waits === true) lines.push("  waits for the broker's timers");
  if (requires?.configuration !== undefined)
    lines.push(`  needs the configuration ${JSON.stringify(requires.configuration)}`);
  if (requires?.capabilities !== undefined)
    lines.push(`  needs the capabilities ${requires.capabilities.join(', ')}`);
  if (requires?.profiles !== undefined)
    lines.push(`  needs a broker that claims ${requires.profiles.join(', ')} as well`);
  return lines;
}

function evidenceText({ evidence }: Check): string {
  const floors = Object.entries({ assertions: 1, ...evidence }).map(([kind, least]) => `${least} ${kind}`);
  return `at least ${floors.join(', ')}`;
}

function killerLines(checkId: string, faults: readonly PlantedFault[]): readonly string[] {
  const killers = faults.filter(({ mustFail }) => mustFail.includes(checkId));
  if (killers.length === 0) return ['  no planted fault makes it fail'];
  return ['  fails, as it must, when', ...killers.map(({ id, title }) => `    ${title} (${id})`)];
}
