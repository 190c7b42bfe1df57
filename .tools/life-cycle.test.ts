// The drawings in the docs are the broker's tables of transitions, as they are now; and they change when the tables do.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { transitions } from '../src/broker/queue/message-state.ts';
import { type Drawn, redrawn } from './life-cycle/drawing.ts';
import { tables } from './life-cycle/tables.ts';

const document = readFileSync(new URL('../docs/internals/message-life.md', import.meta.url), 'utf8');
const messages: Drawn = { name: 'messages', firstEvent: 'publish', transitions };

describe('the drawing of a life', () => {
  it.each(tables)('of $name is current: after a change, run .tools/life-cycle.ts --write', (table) => {
    expect(document).toBe(redrawn(document, table));
  });

  it('changes with the table', () => {
    const more = { ...transitions, waiting: { ...transitions.waiting, vanish: 'dropped' } };
    const changed = redrawn(document, { ...messages, transitions: more });
    expect(changed).toContain('waiting --> dropped : vanish');
    expect(changed).not.toBe(document);
  });

  it('leaves the text around it alone', () => {
    const marks = /<!-- drawn from the transitions of messages[^>]*-->/g;
    const outside = (text: string) => text.split(marks).filter((_, index) => index % 2 === 0);
    const small = { ...messages, transitions: { one: { go: 'two' }, two: {} } };
    expect(outside(redrawn(document, small))).toEqual(outside(document));
  });

  it('refuses a document without its marks', () => {
    expect(() => redrawn('# No marks', messages)).toThrow('once each');
  });
});
