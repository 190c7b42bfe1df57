// What is read in a document, and what only looks like it.
import { describe, expect, it } from 'vitest';
import {
  anchorsOf,
  codeBlocksOf,
  linksOf,
  listItemsOf,
  namedAnchorsOf,
  sectionOf,
  tableRowsOf,
} from './markdown.ts';

const page = [
  '# The `frame` of [one](a.md) message, *really*',
  'See [b](b.md "B"), ![picture](c.png), <d.md>, [e] and `[no](no.md)`.',
  '',
  '[e]: <e.md#part>',
  '## Again\n\n### Again',
  '- <a id="FRAME-001"></a>[FRAME-001] MUST: short',
  '- `<a id="no"></a>` and [f](f.md)',
  '',
  '```sh\n# no heading\n[no](no.md)\n```',
  '## Table',
  '| a | b |\n|---|--:|\n| `x` | 1 s |\n| y | 2 \\| 3 |',
].join('\n');

describe('a document', () => {
  it('links to what its links, images and definitions name, and not to what its code does', () => {
    expect(linksOf(page)).toEqual(['a.md', 'b.md', 'c.png', 'e.md#part', 'e.md#part', 'f.md']);
  });

  it('has the anchors of its headings, as GitHub makes them, and those written as HTML', () => {
    const headings = ['the-frame-of-one-message-really', 'again', 'again-1', 'table'];
    expect(anchorsOf(page)).toEqual([...headings, 'FRAME-001']);
    expect(namedAnchorsOf(page)).toEqual(['FRAME-001']);
  });

  it('has blocks of code in a language', () => {
    expect(codeBlocksOf(page, 'sh')).toEqual(['# no heading\n[no](no.md)']);
    expect(codeBlocksOf(page, 'ts')).toEqual([]);
  });
});

describe('a section', () => {
  it('reaches to the next heading that is as high', () => {
    expect(listItemsOf(sectionOf(page, 'Again'))).toHaveLength(2);
    expect(tableRowsOf(sectionOf(page, 'Again'))).toEqual([]);
  });

  it('has the rows of its tables', () => {
    expect(tableRowsOf(sectionOf(page, 'Table'))).toEqual([
      ['`x`', '1 s'],
      ['y', '2 | 3'],
    ]);
  });

  it('that does not exist is refused', () => {
    expect(() => sectionOf(page, 'Gone')).toThrow('no section "Gone"');
  });
});
