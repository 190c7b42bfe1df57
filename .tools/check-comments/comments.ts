// The comment above each check of the conformance suite: the id, level and sentence of the check's main requirement, as in spec/. Pure:
// source text in, source text and findings out. Changes nothing but these comments.
import type { Requirement } from '../traceability/catalogue.ts';

export type CheckComments = {
  /** The source text with the current comment above each check. */
  readonly text: string;
  /** Ids of the checks whose comment was missing or different. */
  readonly outdated: readonly string[];
  /** Ids of the checks whose main requirement is not in the catalogue. Their comments are left as they are. */
  readonly unknown: readonly string[];
};

const width = 120;
/** The comment of a check, if it has one, its opening brace and its id. */
const checkStart =
  /^((?: *\/\/ [A-Z]+-\d{3} \((?:MUST|SHOULD|MAY)\): .*\n(?: *\/\/ .*\n)*)?)(( *)\{\n +id: '([A-Z]+-\d{3})[a-z]+',\n)/gm;
const nextCheck = /^ +id: '/m;
const firstClause = /\bclauses: \[\s*'([^']+)'/;

export function withRequirementComments(
  source: string,
  requirements: ReadonlyMap<string, Requirement>,
): CheckComments {
  const outdated: string[] = [];
  const unknown: string[] = [];
  const text = source.replace(
    checkStart,
    (whole, comment: string, opening: string, indent: string, idPart: string, at: number) => {
      const check = /'(.+)'/.exec(opening)?.[1] ?? idPart;
      const requirement = requirements.get(mainClauseOf(source.slice(at + whole.length)) ?? idPart);
      if (requirement === undefined) {
        unknown.push(check);
        return whole;
      }
      const current = renderComment(requirement, indent);
      if (comment !== current) outdated.push(check);
      return current + opening;
    },
  );
  return { text, outdated, unknown };
}

/** The first of a check's `clauses`. Undefined when the check is built from its id, without a list of its own. */
function mainClauseOf(afterId: string): string | undefined {
  const end = afterId.search(nextCheck);
  return firstClause.exec(end === -1 ? afterId : afterId.slice(0, end))?.[1];
}

function renderComment({ id, level, sentence }: Requirement, indent: string): string {
  const start = `${indent}//`;
  const lines: string[] = [];
  let line = start;
  for (const word of `${id} (${level}): ${sentence}`.split(/\s+/)) {
    if (line !== start && line.length + 1 + word.length > width) {
      lines.push(line);
      line = start;
    }
    line += ` ${word}`;
  }
  return `${[...lines, line].join('\n')}\n`;
}
