// The planted faults of fixtures/faults/, read and checked. Knows neither how a fault is planted nor who judges it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** One change to the broker's source that breaks one rule. fixtures/faults/README.md says what each field means. */
export type Fault = {
  readonly id: string;
  readonly title: string;
  readonly find: string;
  readonly within?: string;
  readonly replace: string;
  /** The requirements that it breaks: tests and scenarios that name them must fail (`npm run proof`). */
  readonly breaks?: readonly [string, ...string[]];
  /** What the conformance runner sees of it: ids of checks. */
  readonly runner?: {
    readonly mustFail: readonly [string, ...string[]];
    readonly mayFail?: readonly string[];
    /** Those of `mustFail` that fail only because every frame is watched. */
    readonly watched?: readonly string[];
  };
  /** Whether the simulation sees it. */
  readonly simulation?: 'seen' | 'unseen';
  /** The judge of retained memory must see it. */
  readonly memory?: 'seen';
  /** The fuzzer must see it. */
  readonly fuzz?: 'seen';
};

export const faultsFolder = 'fixtures/faults';

/** Every fault, in the order of the files and within them. Throws with all that is wrong when an entry is not complete. */
export function readFaults(root: string): readonly Fault[] {
  const names = readdirSync(join(root, faultsFolder)).filter((name) => name.endsWith('.yaml'));
  const entries = names.sort().flatMap((name) => {
    const area = name.replace('.yaml', '');
    return entriesOf(readFileSync(join(root, faultsFolder, name), 'utf8'), area);
  });
  const complaints = [...entries.flatMap(({ complaints: list }) => list), ...repeats(entries)];
  if (complaints.length > 0) throw new Error(complaints.join('\n'));
  return entries.map(({ fault }) => fault);
}

export type Entry = { readonly fault: Fault; readonly complaints: readonly string[] };

/** The entries of one file, each with what is wrong with it. */
export function entriesOf(text: string, area: string): readonly Entry[] {
  const list: unknown = parse(text);
  if (!Array.isArray(list)) throw new Error(`${faultsFolder}/${area}.yaml is not a list of faults`);
  return list.map((fault: Fault) => ({
    fault,
    complaints: complaintsOf(fault, area).map((complaint) => `${fault.id}: ${complaint}`),
  }));
}

const fields = [
  'id',
  'title',
  'breaks',
  'find',
  'within',
  'replace',
  'runner',
  'simulation',
  'memory',
  'fuzz',
];
const requiredTexts = ['id', 'title', 'find', 'replace'] as const;

function complaintsOf(fault: Fault, area: string): readonly string[] {
  const { id, breaks, runner, simulation, memory, fuzz } = fault;
  const isKebab = /^[a-z0-9]+(-[a-z0-9]+)*$/.test(id);
  const isNamed = runner === undefined || isIdList(runner.mustFail, 1);
  return [
    ...requiredTexts
      .filter((name) => typeof fault[name] !== 'string' || (name !== 'replace' && fault[name] === ''))
      .map((name) => `${name} is not a text`),
    ...Object.keys(fault)
      .filter((name) => !fields.includes(name))
      .map((name) => `${name} is not a field of a fault`),
    ...(isKebab && id.startsWith(`${area}-`) ? [] : [`the id does not begin with "${area}-", in kebab-case`]),
    ...((breaks === undefined ? runner === undefined : isIdList(breaks, 1))
      ? []
      : ['breaks does not name the requirements that it breaks']),
    ...(isNamed && isIdList(runner?.mayFail ?? [], 0) ? [] : ['runner does not name the checks']),
    ...(isNamed && isIdList(runner?.watched ?? [], 0) && isPartOf(runner?.watched, runner?.mustFail)
      ? []
      : ['runner.watched is no list of ids of mustFail']),
    ...([undefined, 'seen', 'unseen'].includes(simulation) ? [] : ['simulation is neither seen nor unseen']),
    ...([undefined, 'seen'].includes(memory) ? [] : ['memory is not seen']),
    ...([undefined, 'seen'].includes(fuzz) ? [] : ['fuzz is not seen']),
    ...([breaks, simulation, memory, fuzz].every((judge) => judge === undefined)
      ? ['it neither breaks a requirement nor names a judge: simulation, memory or fuzz']
      : []),
  ];
}

function isPartOf(some: readonly string[] = [], all: readonly string[] = []): boolean {
  return some.every((id) => all.includes(id));
}

function isIdList(value: unknown, least: number): boolean {
  return Array.isArray(value) && value.length >= least && value.every((id) => typeof id === 'string');
}

function repeats(entries: readonly Entry[]): readonly string[] {
  const ids = entries.map(({ fault }) => fault.id);
  const titles = entries.map(({ fault }) => fault.title);
  return [
    ...ids.filter((id, index) => ids.indexOf(id) < index).map((id) => `${id}: the id is given twice`),
    ...titles
      .filter((title, index) => titles.indexOf(title) < index)
      .map((title) => `the title is given twice: ${title}`),
  ];
}

/** Whether the id fits the pattern, or one of several between commas: `*` stands for any text. */
export function fits({ id }: Pick<Fault, 'id'>, pattern: string): boolean {
  return pattern.split(',').some((one) => {
    const expression = one.split('*').map((text) => text.replace(/[^\w-]/g, '\\$&'));
    return new RegExp(`^${expression.join('.*')}$`).test(id);
  });
}
