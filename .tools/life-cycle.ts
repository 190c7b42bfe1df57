// The drawing of a table of transitions: a mermaid state diagram, and the same as a table for those who look something up. Pure.

export type Transitions = Readonly<Record<string, Readonly<Record<string, string>>>>;

const begins = '<!-- drawn from the transitions: begin -->';
const ends = '<!-- drawn from the transitions: end -->';

/** The document with a fresh drawing between its two marks. Throws when they are not there once each, in order. */
export function redrawn(document: string, transitions: Transitions): string {
  const [before, rest, ...more] = document.split(begins);
  const [old, after, ...evenMore] = (rest ?? '').split(ends);
  const isMarked = after !== undefined && old !== undefined && more.length === 0 && evenMore.length === 0;
  if (!isMarked) throw new Error(`The document must hold "${begins}" and "${ends}", once each.`);
  return `${before}${begins}\n\n${diagram(transitions)}\n${table(transitions)}\n${ends}${after}`;
}

/** A message begins where no transition leads from outside: blocked for an instant, or for as long as there is no room. */
function diagram(transitions: Transitions): string {
  const ways = waysOf(transitions).map(({ from, event, to }) => `    ${from} --> ${to} : ${event}`);
  const last = Object.keys(transitions).filter((state) => isFinal(state, transitions));
  const lines = [
    '```mermaid',
    'stateDiagram-v2',
    '    direction LR',
    `    [*] --> ${Object.keys(transitions)[0] ?? ''} : publish`,
    ...ways,
    ...last.map((state) => `    ${state} --> [*]`),
    '```',
  ];
  return `${lines.join('\n')}\n`;
}

function table(transitions: Transitions): string {
  const rows = waysOf(transitions).map(({ from, event, to }) => `| \`${from}\` | \`${event}\` | \`${to}\` |`);
  return `${['| from | event | to |', '|---|---|---|', ...rows].join('\n')}\n`;
}

function waysOf(transitions: Transitions) {
  return Object.entries(transitions).flatMap(([from, row]) =>
    Object.entries(row).map(([event, to]) => ({ from, event, to })),
  );
}

function isFinal(state: string, transitions: Transitions): boolean {
  return Object.keys(transitions[state] ?? {}).length === 0;
}
