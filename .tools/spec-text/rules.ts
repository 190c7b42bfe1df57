// How a requirement of the catalogue stands in the text of spec/*.md: one list item with an anchor, so that a link to a rule
// lasts and its words are those of the catalogue. Pure: text in, text and findings out. It must not touch the prose around.
import type { Requirement } from '../traceability/catalogue.ts';

const width = 118;
const ruleBlock = /^- <a id="([^"]+)"><\/a>.*\n(?: {2}\S.*\n)*/gm;

/** The list item of a requirement, with its last line break. */
export function renderRule(requirement: Requirement): string {
  const { id, level, sentence, alternatives = [], why, withdrawn } = requirement;
  const opening = `- <a id="${id}"></a>[${id}]`;
  if (withdrawn !== undefined) return wrap(`${opening} withdrawn: ${escapeMarkup(withdrawn)}`);
  return [
    wrap(`${opening} ${level}: ${escapeMarkup(sentence)}`),
    ...alternatives.map((alternative) => wrap(`  Also right: ${escapeMarkup(alternative)}`)),
    ...(why === undefined ? [] : [wrap(`  Why: ${escapeMarkup(why)}`)]),
  ].join('');
}

/** `text` with each rule replaced by what the catalogue says now; unknown ids are left as they are. */
export function refreshRules(text: string, requirements: ReadonlyMap<string, Requirement>): string {
  return text.replace(ruleBlock, (block, id: string) => {
    const requirement = requirements.get(id);
    return requirement === undefined ? block : renderRule(requirement);
  });
}

/** What would be markup in Markdown: `<queue>` would vanish, `*` would begin a list or slant the words. */
function escapeMarkup(text: string): string {
  return text.replace(/<(?=[a-z])/g, '\\<').replaceAll('*', '\\*');
}

function wrap(text: string): string {
  const lines: string[] = [];
  let line = '';
  for (const piece of piecesOf(text)) {
    if (line !== '' && line.length + piece.length > width) {
      lines.push(line.trimEnd());
      line = '  ';
    }
    line += piece;
  }
  return `${[...lines, line.trimEnd()].join('\n')}\n`;
}

/** Words with the blanks after them; one that would begin a list at the start of a line stays with the word before. */
function piecesOf(text: string): readonly string[] {
  return text.match(/\s*\S+\s*(?:(?:[-+]|\d+[.)])(?:\s+|$))*/g) ?? [];
}
