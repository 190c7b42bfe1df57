// Numbers and booleans where a text is expected: the message says that quotes are missing.

import { describe, expect, it } from 'vitest';
import { problemsOf } from '../testing/tested-configuration.ts';

describe('a text that lacks its quotes', () => {
  it.each([
    ['superuserPassword: 123456', 'came (hidden)', 'a number'],
    ['authToken: 12345678', 'came (hidden)', 'a number'],
    ['authToken: true', 'came (hidden)', 'a boolean'],
    ['host: 10.1', 'came 10.1', 'a number'],
  ])('is refused with the advice to add them: %s', (file, came, type) => {
    const [problem] = problemsOf({ file });
    expect(problem).toContain(came);
    expect(problem).toMatch(new RegExp(`\\. This is ${type}: put it in quotes to make it a text$`));
    expect(problemsOf({ file: file.replace(/: (.*)/, ': "$1"') })).toEqual([]);
  });

  it('is not what a number or a choice lacks', () => {
    expect(problemsOf({ file: 'port: -1\nstorage: 5' }).join()).not.toContain('quotes');
  });
});
