// The drawing in the docs is the broker's table of transitions, as it is now; and it changes when the table does.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { transitions } from '../src/broker/message-state.ts';
import { redrawn } from './life-cycle.ts';

const path = fileURLToPath(new URL('../docs/internals/message-life.md', import.meta.url));
const document = readFileSync(path, 'utf8');

describe('the drawing of a message’s life', () => {
  it('is current: after a change, `npm run refresh`', async () => {
    await expect(redrawn(document, transitions)).toMatchFileSnapshot(path);
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
