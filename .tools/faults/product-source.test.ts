// The code of a text: comments and formatting do not count, everything else does.
import { expect, it } from 'vitest';
import { codeOf } from './product-source.ts';

it('does not depend on comments and formatting', () => {
  expect(codeOf('/** Adds. */\nconst add = (a, b,) => a + b; // sum')).toBe(
    codeOf('const add = (a,\n  b) => a + b;'),
  );
});

it('depends on everything else', () => {
  expect(codeOf('a + b')).not.toBe(codeOf('a - b'));
  expect(codeOf("say('// no comment')")).not.toBe(codeOf("say('')"));
  expect(codeOf('a = /\\/*x/; b = /y*\\//')).not.toBe(codeOf('a = /\\/; b = /y*\\//'));
  const template = (text: string) => codeOf(`say(\`/*\${a /* is b */}//${text}\${c}*/\`) // d`);
  expect(template('x')).not.toBe(template('y'));
  expect(template('x')).toBe('say ( ` / * $ { a } / / x$ { c } * / ` )');
});
