// Writes what is proved into the catalogue's files: coveredBy lists and planned marks, and nothing else. Works on the YAML
// document, so that comments, order and blank lines stay. A requirement that lost its coverage falls back to planned, and the
// caller is told, because that is a loss and no bookkeeping.
import { type Document, isMap, isSeq, parseDocument, type YAMLMap } from 'yaml';
import { type Coverage, coverageKinds } from './catalogue.ts';

const lineWidth = 110;

export type Rewritten = {
  readonly text: string;
  /** Ids that were covered before and are not any more. */
  readonly lost: readonly string[];
};

/** `coverageOf` tells what covers an id; undefined when nothing does. @throws Error when `text` is no catalogue file */
export function rewriteCoverage(text: string, coverageOf: (id: string) => Coverage | undefined): Rewritten {
  const document = parseDocument(text);
  const area = document.get('area');
  const requirements = document.get('requirements');
  if (typeof area !== 'string' || !isSeq(requirements)) throw new Error('this is no file of requirements');
  const lost: string[] = [];
  for (const entry of requirements.items) {
    if (!isMap(entry) || entry.has('withdrawn')) continue;
    const id = String(entry.get('id'));
    const coverage = coverageOf(id);
    if (coverage === undefined && entry.has('coveredBy')) lost.push(id);
    setCoverage(document, entry, coverage, area);
  }
  return { text: document.toString({ lineWidth }), lost };
}

function setCoverage(document: Document, entry: YAMLMap, coverage: Coverage | undefined, area: string): void {
  if (coverage === undefined) {
    entry.delete('coveredBy');
    if (!entry.has('planned')) entry.set('planned', area);
    return;
  }
  entry.delete('planned');
  const ordered = coverageKinds.flatMap((kind) =>
    coverage[kind] === undefined ? [] : [[kind, coverage[kind]]],
  );
  entry.set('coveredBy', document.createNode(Object.fromEntries(ordered)));
}
