// The drawing in the docs is the broker's table of transitions, as it is now; and it changes when the table does.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { transitions } from '../src/broker/queue/message-state.ts';
import { redrawn } from './life-cycle/drawing.ts';

const document = readFileSync(new URL('../docs/internals/message-life.md', import.meta.url), 'utf8');

describe('the drawing of a message’s life', () => {
  it('is current: after a change, run .tools/life-cycle.ts --write', () => {
    expect(document).toBe(redrawn(document, transitions));
  });

  it('changes with the table', () => {
    const more = { ...transitions, waiting: { ...transitions.waiting, vanish: 'dropped' } };
    expect(redrawn(document, more)).toContain('waiting --> dropped : vanish');
    expect(redrawn(document, more)).not.toBe(document);
  });

  it('leaves the text around it alone', () => {
    const marks = /<!-- drawn[^>]*-->/g;
    const outside = (text: string) => text.split(marks).filter((_, index) => index % 2 === 0);
    expect(outside(redrawn(document, { one: { go: 'two' }, two: {} }))).toEqual(outside(document));
  });

  it('refuses a document without its marks', () => {
    expect(() => redrawn('# No marks', transitions)).toThrow('once each');
  });
});
