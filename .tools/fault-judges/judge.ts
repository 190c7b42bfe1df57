// What the judges of planted faults have in common, and how a list of faults is judged by one of them. A judge sees one fault at a time and
// prints nothing.
import { type CrewLimits, workOff } from '../../conformance/selftest/idle-crew.ts';
import type { Fault } from '../faults/catalogue.ts';

/** What a judge found with one fault planted. */
export type Verdict = {
  /** Who saw the fault: checks, scenarios, seeds. Empty when nobody did. */
  readonly seenBy: readonly string[];
  /** What the catalogue says about this judge and is not true. */
  readonly complaints: readonly string[];
};

export type Judge = {
  /** Whether the judge tries this fault; `isNamed` when the command line asks for it. */
  readonly isFor: (fault: Fault, isNamed: boolean) => boolean;
  /** Throws when the fault could not be planted or not be judged. */
  readonly judge: (fault: Fault) => Promise<Verdict>;
  /** How many faults are judged at a time. */
  readonly crew: CrewLimits;
  /** What is wrong with the findings as a whole. */
  readonly sum: (findings: readonly Finding[]) => readonly string[];
  /** Removes what the judge left on the disk. */
  readonly close: () => void;
};

export type Finding = Verdict & { readonly fault: Fault };

/** Judges one fault after the other, several at a time; `tell` is called for each in the order in which they are done. */
export async function judgeAll(
  { judge, crew }: Pick<Judge, 'judge' | 'crew'>,
  faults: readonly Fault[],
  tell: (finding: Finding) => void,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const work = async (fault: Fault): Promise<void> => {
    const finding = { fault, ...(await judgedSafely(judge, fault)) };
    findings.push(finding);
    tell(finding);
  };
  await workOff(faults, work, crew);
  return findings;
}

async function judgedSafely(judge: Judge['judge'], fault: Fault): Promise<Verdict> {
  try {
    return await judge(fault);
  } catch (error) {
    return { seenBy: [], complaints: [error instanceof Error ? error.message : String(error)] };
  }
}

const shownCount = 4;
const shownLength = 150;

/** One line for what was seen, and one for each complaint. */
export function findingText({ fault, seenBy, complaints }: Finding): string {
  const failures = complaints.map((complaint) =>
    complaint.startsWith(fault.id) ? `FAIL      ${complaint}` : `FAIL      ${fault.id}: ${complaint}`,
  );
  const unseen = failures.length > 0 ? [] : [`NOT SEEN  ${fault.id}: ${fault.title}`];
  const seen = [`seen      ${fault.id}: ${namesText(seenBy)}`];
  return [...(seenBy.length > 0 ? seen : unseen), ...failures, ''].join('\n');
}

function namesText(names: readonly string[]): string {
  const more = names.length > shownCount ? `, and ${names.length - shownCount} more` : '';
  const shown = names.slice(0, shownCount).map((name) => name.slice(0, shownLength));
  return `${shown.join(', ')}${more}`;
}
