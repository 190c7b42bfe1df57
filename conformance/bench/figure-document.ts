// Writes results into the document between the marks `<!-- figure NAME -->` and `<!-- end -->`, the goals between `<!-- goals -->` and
// `<!-- end goals -->`, and changes nothing else. The text between the marks depends only on the committed results, so that a test can check that it is current.
import type { BenchResult } from '../src/bench/bench-result.ts';
import { jobLines } from '../src/bench/bench-table.ts';
import type { FigureEntry } from './figure-list.ts';
import { type Goal, goalLines } from './goals.ts';

export type ResultNamed = (name: string) => BenchResult | undefined;

const mark = /<!-- figure ([a-z-]+) -->\n[\s\S]*?<!-- end -->/g;

const goalMark = /<!-- goals -->\n[\s\S]*?<!-- end goals -->/;

/** Returns the document with the table of goals replaced. Throws if it has no place for it. */
export function withGoals(text: string, goals: readonly Goal[], resultNamed: ResultNamed): string {
  if (!goalMark.test(text)) throw new Error('no place for the goals: <!-- goals --> and <!-- end goals -->');
  const table = ['<!-- goals -->', ...goalLines(goals, resultNamed), '<!-- end goals -->'].join('\n');
  return text.replace(goalMark, () => table);
}

/** Returns the document with all marked parts replaced. Throws if a part has no figure, or a figure has no part. */
export function documentWith(
  text: string,
  entries: readonly FigureEntry[],
  resultNamed: ResultNamed,
): string {
  const marked = [...text.matchAll(mark)].map(([, name]) => name);
  const missing = entries.filter(({ name }) => !marked.includes(name));
  if (missing.length > 0) throw new Error(`no place for ${missing.map(({ name }) => name).join(', ')}`);
  return text.replace(mark, (_, name: string) => {
    const entry = entries.find((candidate) => candidate.name === name);
    if (entry === undefined) throw new Error(`nobody measures ${name}`);
    return [`<!-- figure ${name} -->`, ...partLines(entry, resultNamed(name)), '<!-- end -->'].join('\n');
  });
}

function partLines(entry: FigureEntry, result: BenchResult | undefined): readonly string[] {
  const head = [
    `## ${entry.title}`,
    '',
    entry.text,
    '',
    `\`node ${entry.command.join(' ')} --reps ${entry.roundCount}\``,
    '',
  ];
  if (result === undefined) return [...head, 'Not measured yet.'];
  const jobs = [...new Set(result.rows.map(({ job }) => job))];
  return [...head, factsLine(result), ...jobs.flatMap((job) => ['', ...jobLines(result, job)])];
}

/** The date, the machine and its load: they are necessary to interpret the figures. */
function factsLine({ at, machine, commit, settings }: BenchResult): string {
  const { cores, node, platform, arch, loadAverage } = machine;
  const facts = [
    at.slice(0, 16).replace('T', ' '),
    `${cores} cores, Node ${node.replace('v', '')}, ${platform} ${arch}`,
    `load ${loadAverage.toFixed(1)} before it began`,
    ...(commit === undefined ? [] : [`commit ${commit}`]),
    `${String(settings['roundCount'])} rounds, medians`,
  ];
  return `${facts.join('; ')}.`;
}
