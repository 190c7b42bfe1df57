// The content of a message in a history is its JSON value, whatever its bytes and its length.
import { describe, expect, it } from 'vitest';
import { MessageContents } from './message-contents.ts';

function contentOf(payload: string | Buffer | undefined): string {
  return new MessageContents().contentOf(payload);
}

describe('the content of a message', () => {
  it.each([
    ['{"of":"m-1","n":1}', ' { "n" : 1.0, "o\\u0066": "m-1" }'],
    [`"${'x'.repeat(100)}"`, `\t"${'\\u0078'.repeat(100)}"`],
  ])('is the same for the same value', (one, other) => {
    expect(contentOf(one)).toBe(contentOf(Buffer.from(other)));
  });

  it.each([
    ['9007199254740993', '9007199254740992'],
    [`"${'x'.repeat(100)}"`, `"${'x'.repeat(99)}y"`],
    ['', 'null'],
    ['{', '['],
    ['"\u00e9"', Buffer.from('22e922', 'hex')],
  ])('is another one for another value', (one, other) => {
    expect(contentOf(one)).not.toBe(contentOf(other));
  });

  it('is known again when the payload comes again', () => {
    const contents = new MessageContents();
    const first = contents.contentOf(' [1]');
    expect([contents.contentOf('[1.0]'), contents.contentOf(' [1]')]).toEqual([first, first]);
  });

  it('is empty without a payload', () => {
    expect([contentOf(undefined), contentOf('')]).toEqual(['', '']);
  });
});
