// The drawings in the docs are the broker's tables of transitions, as they are now; and they change when the tables do.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { deliveryTransitions } from '../src/broker/delivery/delivery-state.ts';
import { transitions } from '../src/broker/queue/message-state.ts';
import { type Drawn, redrawn } from './life-cycle.ts';

const path = fileURLToPath(new URL('../docs/internals/message-life.md', import.meta.url));
const document = readFileSync(path, 'utf8');
const messages: Drawn = { name: 'messages', firstEvent: 'publish', transitions };
const deliveries: Drawn = { name: 'deliveries', firstEvent: 'send', transitions: deliveryTransitions };

describe('the drawing of a life', () => {
  it('is current: after a change, `npm run refresh`', async () => {
    await expect([messages, deliveries].reduce(redrawn, document)).toMatchFileSnapshot(path);
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
