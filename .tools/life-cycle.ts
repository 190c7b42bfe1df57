// Draws the lives of messages and deliveries from the broker's own tables of transitions into docs/internals/message-life.md: `node
// --import tsx .tools/life-cycle.ts --write`. Without --write it says whether the document is current. The text around the drawings is
// written by hand.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { redrawn } from './life-cycle/drawing.ts';
import { tables } from './life-cycle/tables.ts';

const path = fileURLToPath(new URL('../docs/internals/message-life.md', import.meta.url));

const { values } = parseArgs({ options: { write: { type: 'boolean', default: false } } });
const text = readFileSync(path, 'utf8');
const current = tables.reduce(redrawn, text);
if (values.write) writeFileSync(path, current);
else if (text !== current) {
  console.error('docs/internals/message-life.md is not current: run this with --write.');
  process.exitCode = 1;
}
