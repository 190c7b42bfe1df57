// Where a fault is planted, and when it is refused: the sources here are made up.
import { describe, expect, it } from 'vitest';
import { type Anchored, Planter } from './planter.ts';
import { ProductSource } from './product-source.ts';

const queue = `// What a queue holds: not isFull.
export class Queue {
  #count = 0;

  get isFull(): boolean {
    // Counted here: return this.#count > 5;
    return this.#count >= max(
      this.options,
      1,
    );
  }

  clear(): void {
    this.#count = 0;
  }
}
`;
const modes = `export const one = { dispatch(): void { send('a  b'); } };
export const all = { dispatch(): void { send('a  b'); } };
function dispatch(): string { return \`Queue \${name} is full.\`; }
`;

function planted(fault: Partial<Anchored>): string {
  const sources = [new ProductSource('src/queue.ts', queue), new ProductSource('src/modes.ts', modes)];
  const planter = new Planter(() => sources);
  return planter.plant({ id: 'queue-x', find: 'x', replace: 'y', ...fault }).text;
}

describe('a fault', () => {
  it('is planted at the one place of its text, and the rest of the file stays', () => {
    const find = 'return this.#count >= max(';
    const text = planted({ find, replace: 'return this.#count > max(' });
    expect(text).toBe(queue.replace(find, 'return this.#count > max('));
  });

  it.each([
    ['with other white space', 'this.#count>=max( this.options,1 )'],
    ['with line breaks', '  this\n    .#count >=\n  max(this.options, 1)\n'],
    ['with a comma before the bracket', 'this.#count >= max(this.options, 1,)'],
  ])('is found %s', (_, find) => {
    expect(planted({ find, replace: 'true' })).toContain('return true;');
  });

  it('is found in a piece of a template, and behind it the text goes on', () => {
    const text = planted({ find: 'return `Queue', replace: 'return `No queue' });
    expect(text).toContain(modes.slice(modes.indexOf('`Queue') + '`Queue'.length));
    expect(text).toContain('return `No queue ');
  });

  it('takes $ in its replacement as it is', () => {
    expect(planted({ find: 'this.#count >= max', replace: "'$&$1$$'" })).toContain("return '$&$1$$'(");
  });

  it('may take its place away', () => {
    expect(planted({ find: 'get isFull(): boolean {', replace: '' })).not.toContain('isFull(');
  });
});

describe('faults together', () => {
  const together = (...faults: readonly Partial<Anchored>[]) => {
    const sources = [new ProductSource('src/queue.ts', queue), new ProductSource('src/modes.ts', modes)];
    const anchored = faults.map((fault, index) => ({
      id: `queue-${index}`,
      find: 'x',
      replace: 'y',
      ...fault,
    }));
    return new Planter(() => sources).plantTogether(anchored);
  };

  it('are planted side by side, each in its source', () => {
    const planted = together(
      { find: 'this.#count >= max', replace: 'min' },
      { find: 'this.#count = 0', within: 'Queue.clear', replace: 'this.#count = 1' },
      { find: 'return `Queue', replace: 'return `No queue' },
    );
    expect(new Map(planted.map(({ path, text }) => [path, text]))).toEqual(
      new Map([
        [
          'src/queue.ts',
          queue.replace('this.#count >= max', 'min').replace('    this.#count = 0', '    this.#count = 1'),
        ],
        ['src/modes.ts', modes.replace('`Queue', '`No queue')],
      ]),
    );
  });

  it('are refused where two change the same text', () => {
    const faults = [
      { find: 'this.#count >= max', replace: 'a' },
      { find: '>= max(', replace: 'b' },
    ];
    expect(() => together(...faults)).toThrow('change the same text: plant one of them');
  });
});

describe('within a declaration', () => {
  it.each([
    ['a method', 'Queue.clear', 'this.#count = 0'],
    ['a method of an object', 'all.dispatch', "send('a  b')"],
    ['a function', 'dispatch', 'name'],
    ['a class', 'Queue', 'this.#count >='],
  ])('%s', (_, within, find) => {
    expect(planted({ find, within, replace: 'changed' })).toContain('changed');
  });

  it('is looked for only there', () => {
    expect(() => planted({ find: 'this.#count = 0', within: 'Queue.isFull' })).toThrow(
      'stands 0 times in Queue.isFull in src/; at src/queue.ts:7 it fits up to "count", before "="',
    );
  });

  it('that does not exist is refused', () => {
    expect(() => planted({ find: 'send', within: 'Queue.gone' })).toThrow(
      'there is no declaration Queue.gone',
    );
  });
});

describe('a fault is refused', () => {
  it.each<[string, Partial<Anchored>, string]>([
    ['with no place', { find: 'nothing like it' }, 'queue-x: its text stands 0 times in src/. Adapt "find"'],
    ['with a place in a comment', { find: 'this.#count > 5' }, 'stands 0 times'],
    ['with a part of a word', { find: 'this.options, 1); } cle' }, 'stands 0 times'],
    ['with glued words', { find: 'returnthis.#count' }, 'stands 0 times'],
    ['with no text', { find: ' ' }, 'stands 0 times'],
    [
      'with two places',
      { find: "send('a  b')" },
      'stands 2 times: src/modes.ts:1, src/modes.ts:2. Make "find" longer, or name the declaration in "within".',
    ],
    [
      'without a change',
      { find: 'this.#count >= max(', replace: 'this.#count  >= max(' },
      'queue-x: the replacement changes nothing.',
    ],
  ])('%s', (_, fault, message) => {
    expect(() => planted(fault)).toThrow(message);
  });
});

describe('the code around a fault', () => {
  const sources = [new ProductSource('src/queue.ts', queue), new ProductSource('src/modes.ts', modes)];
  const around = (find: string, within?: string): string =>
    new Planter(() => sources).codeAround({ id: 'queue-x', find, replace: 'y', ...(within && { within }) });

  it.each([
    ['of the member of a class', 'this.options', 'get isFull ( ) : boolean'],
    ['of a statement of the file', "send('a  b')", 'export const all = { dispatch', 'all.dispatch'],
    ['of the class, where it takes in several members', '} clear(): void {', 'export class Queue'],
  ])('is that %s, without comments', (_, find, code, within?: string) => {
    expect(around(find, within)).toMatch(code);
    expect(around(find, within)).not.toContain('Counted here');
  });

  it('leaves out the rest of the file', () => {
    expect(around('this.options')).not.toContain('clear');
    expect(around("send('a  b')", 'all.dispatch')).not.toContain('one');
  });
});
