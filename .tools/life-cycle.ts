// The drawing of a table of transitions: a mermaid state diagram, and the same as a table for those who look something up. Pure.

export type Transitions = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** What is drawn: the table, the name of its place in the document, and the event with which a life begins. */
export type Drawn = {
  readonly name: string;
  readonly firstEvent: string;
  readonly transitions: Transitions;
};

/** The document with a fresh drawing between its two marks. Throws when they are not there once each, in order. */
export function redrawn(document: string, { name, firstEvent, transitions }: Drawn): string {
  const begins = `<!-- drawn from the transitions of ${name}: begin -->`;
  const ends = `<!-- drawn from the transitions of ${name}: end -->`;
  const [before, rest, ...more] = document.split(begins);
  const [old, after, ...evenMore] = (rest ?? '').split(ends);
  const isMarked = after !== undefined && old !== undefined && more.length === 0 && evenMore.length === 0;
  if (!isMarked) throw new Error(`The document must hold "${begins}" and "${ends}", once each.`);
  return `${before}${begins}\n\n${diagram(transitions, firstEvent)}\n${table(transitions)}\n${ends}${after}`;
}

/** A life begins in the first state of its table. */
function diagram(transitions: Transitions, firstEvent: string): string {
  const ways = waysOf(transitions).map(({ from, event, to }) => `    ${from} --> ${to} : ${event}`);
  const last = Object.keys(transitions).filter((state) => isFinal(state, transitions));
  const lines = [
    '```mermaid',
    'stateDiagram-v2',
    '    direction LR',
    `    [*] --> ${Object.keys(transitions)[0] ?? ''} : ${firstEvent}`,
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
